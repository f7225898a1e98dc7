"""Clients of C#: many projects are built at once."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryFile
from xml.sax.saxutils import quoteattr

from support.clients.rendered import attempt, run
from support.clients.toolchain import Toolchain

RELEASE = ("--configuration", "Release")

#: A warning of the compiler or an analyzer is an error here, and not where the client is used.
STRICT = "-p:TreatWarningsAsErrors=true"

#: A build server would outlive the tests and hold their pipes open.
NO_SERVERS = {
    "DOTNET_CLI_USE_MSBUILD_SERVER": "0",
    "MSBUILDDISABLENODEREUSE": "1",
    "UseSharedCompilation": "false",
    "DOTNET_CLI_TELEMETRY_OPTOUT": "1",
    "DOTNET_NOLOGO": "1",
}

_SOLUTION = "All.slnx"


def dotnet(*arguments: str | Path, cwd: Path, **environment: str) -> str:
    return run("dotnet", *arguments, cwd=cwd, **NO_SERVERS, **environment)


def build(solution: str, *options: str, cwd: Path, **environment: str) -> None:
    """Build many projects with one compiler, which starts once, and is ended behind them."""
    settings = os.environ | NO_SERVERS | {"UseSharedCompilation": "true"} | environment
    command = ["dotnet", "build", solution, *RELEASE, *options]
    with TemporaryFile() as printed:  # a pipe would stay open as long as the compiler
        code = subprocess.run(
            command, cwd=cwd, env=settings, stdout=printed, stderr=printed, check=False
        ).returncode
        printed.seek(0)
        assert code == 0, printed.read().decode("utf-8", "replace")
    dotnet("build-server", "shutdown", "--vbcscompiler", cwd=cwd)


def write_solution(folder: Path, projects: Mapping[str, Sequence[Path]]) -> str:
    """Write a solution of projects, whose names may be the same in folders of other names."""
    lines = ["<Solution>"]
    for name, paths in projects.items():
        lines.append(f'<Folder Name="/{name}/">')
        lines += [f"<Project Path={quoteattr(str(path))} />" for path in paths]
        lines.append("</Folder>")
    (folder / _SOLUTION).write_text("\n".join([*lines, "</Solution>"]), encoding="utf-8")
    return _SOLUTION


class DotNet(Toolchain):
    language = "csharp"
    program = ("dotnet", "--version")
    of_vectors = ("ClientTests",)
    ran = r"Passed: +(\d+)"
    # A fault that frees what a call uses may end the process.
    failed = r"^(?:  Failed |The active test run was aborted\. Reason: )(\S+)"
    skipped = r"Skipped: +(\d+)"
    suffixes = (".cs",)

    def build(self, *clients: Path, strict: bool = True) -> None:
        """Clients that lie in one folder, for a warning of whose analyzers the build fails."""
        folder = clients[0].parent
        projects = {client.name: sorted(client.glob("*/*.csproj")) for client in clients}
        solution = write_solution(folder, projects)
        if strict:
            build(solution, STRICT, cwd=folder)
        else:
            build(solution, cwd=folder, RunAnalyzers="false")

    def run_tests(
        self, client: Path, *names: str, **given: str
    ) -> subprocess.CompletedProcess[str]:
        chosen = "|".join(f"FullyQualifiedName~{name}" for name in names)
        command = (
            "test",
            "tests",
            *RELEASE,
            "--no-build",
            *(["--filter", chosen] if names else []),
        )
        return attempt("dotnet", *command, cwd=client, **NO_SERVERS, **given)

    def formatted(self, folder: Path) -> int:
        """White space alone: style needs a build of each project."""
        command = ("format", "whitespace", folder, "--folder", "--verify-no-changes")
        printed = dotnet(*command, "--verbosity", "diagnostic", cwd=folder)
        return int(re.findall(r"Formatted 0 of (\d+) files", printed)[0])

    def check_strictly(self, *clients: Path) -> None:
        """The build of all had analyzers; style judges lines that no name or prompt is in."""
        for project in ("src", "tests", "harness"):
            dotnet("format", project, "--verify-no-changes", "--no-restore", cwd=clients[0])

    def quiet(self, temporary: Path) -> dict[str, str]:
        return super().quiet(temporary) | {"DOTNET_EnableDiagnostics": "0"}
