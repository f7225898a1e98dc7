"""polybake card and export: what travels with a model file, from the command line."""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

import pytest

from support.processes.commandline import polybake
from support.processes.fresh_home import run_silently

pytestmark = pytest.mark.slow

RUN = (sys.executable, "-c", "import polybake.cli.main; polybake.cli.main.main()")


def test_equal_files_have_equal_cards(tiny_tag: Path, tmp_path: Path) -> None:
    """Cards and bills are equal byte for byte, and name the file by its digest."""
    for folder in ("one", "two"):
        polybake("card", tiny_tag, "--output", folder, cwd=tmp_path)
    bill, card = sorted((tmp_path / "one").iterdir())
    for path in (bill, card):
        text = path.read_text("utf-8")
        assert text == (tmp_path / "two" / path.name).read_text("utf-8")
        assert hashlib.sha256(tiny_tag.read_bytes()).hexdigest() in text
    assert 'pipeline_tag: "token-classification"' in card.read_text("utf-8")
    component = json.loads(bill.read_text("utf-8"))["metadata"]["component"]
    assert component["modelCard"]["modelParameters"]["task"] == "tag"


def test_what_is_exported_is_said(every_feed: Path, tmp_path: Path) -> None:
    """The largest difference is printed, no network is used, and nothing else is written."""
    home = tmp_path / "home"
    command = [*RUN, "export", "triton", every_feed, "--output", "models"]
    printed = run_silently(home, *command, cwd=tmp_path)
    assert "wrote models: every golden case, largest difference " in printed
    assert list(home.iterdir()) == []
    assert {path.name for path in tmp_path.iterdir()} <= {"home", "trace", "models"}
