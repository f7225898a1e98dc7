"""Run .NET's command line, and build many projects at once."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryFile
from xml.sax.saxutils import quoteattr

from support.clients.rendered import run

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
