"""Run .NET's command line, and build many projects at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import quoteattr

from support.rendered import run

RELEASE = ("--configuration", "Release")

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


def write_solution(folder: Path, projects: Mapping[str, Sequence[Path]]) -> str:
    """Write a solution of projects, whose names may be the same in folders of other names."""
    lines = ["<Solution>"]
    for name, paths in projects.items():
        lines.append(f'<Folder Name="/{name}/">')
        lines += [f"<Project Path={quoteattr(str(path))} />" for path in paths]
        lines.append("</Folder>")
    (folder / _SOLUTION).write_text("\n".join([*lines, "</Solution>"]), encoding="utf-8")
    return _SOLUTION
