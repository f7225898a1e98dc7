"""Another crate takes the Rust client as its README says."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.clients.cargo import cargo
from support.clients.readme import blocks

pytestmark = pytest.mark.rust


def test_another_crate_takes_it(client: Path, every_feed: Path, tmp_path: Path) -> None:
    """A new crate that depends on the client's runs the program of its README."""
    (program,) = blocks(client, "rust,no_run", every_feed)
    assert str(every_feed) in program
    cargo("new", "--vcs", "none", "application", cwd=tmp_path)
    application = tmp_path / "application"
    cargo("add", "--path", client, cwd=application)
    (application / "src/main.rs").write_text(program, encoding="utf-8")
    assert cargo("run", "--release", cwd=application) == "7\n"
