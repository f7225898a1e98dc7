"""The Go client's README."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.clients.readme import blocks
from support.clients.rendered import run

pytestmark = [pytest.mark.go, pytest.mark.usefixtures("library")]


def test_the_readme_works_in_an_empty_project(
    client: Path, every_feed: Path, tmp_path: Path
) -> None:
    """Its two commands and its program, in a module elsewhere."""
    (commands,) = (block for block in blocks(client, "sh") if block.startswith("go mod edit"))
    (program,) = blocks(client, "go", every_feed)
    run("go", "mod", "init", "example.org/app", cwd=tmp_path)
    (tmp_path / "clients").mkdir()
    (tmp_path / "clients/go").symlink_to(client)
    for command in commands.splitlines():
        run(*command.split(), cwd=tmp_path)
    assert str(every_feed) in program
    (tmp_path / "main.go").write_text(program, encoding="utf-8")
    assert run("gofmt", "-l", "main.go", cwd=tmp_path) == ""
    run("go", "vet", ".", cwd=tmp_path)
    assert run("go", "run", ".", cwd=tmp_path) == "7\n"
