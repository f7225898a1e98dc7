"""Another crate takes the Rust client as its README says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from support.clients.cargo import cargo

pytestmark = pytest.mark.rust


def test_another_crate_takes_it(client: Path, every_feed: Path, tmp_path: Path) -> None:
    """A new crate that depends on the client's runs the program of its README."""
    readme = (client / "README.md").read_text(encoding="utf-8")
    (program,) = re.findall(r"```rust,no_run\n(.*?)```", readme, re.DOTALL)
    assert "every-feed.onnx" in program
    cargo("new", "--vcs", "none", "application", cwd=tmp_path)
    application = tmp_path / "application"
    cargo("add", "--path", client, cwd=application)
    code = program.replace("every-feed.onnx", str(every_feed))
    (application / "src/main.rs").write_text(code, encoding="utf-8")
    assert cargo("run", "--release", cwd=application) == "7\n"
