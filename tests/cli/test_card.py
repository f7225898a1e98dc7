"""polybake card: a model card and a bill of materials, from the command line."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from support.processes.commandline import polybake

pytestmark = pytest.mark.slow


def test_equal_files_have_equal_cards(tiny_tag: Path, tmp_path: Path) -> None:
    """Cards of equal files are equal byte for byte, and name the file by its digest."""
    polybake("card", tiny_tag, "--output", "one", cwd=tmp_path)
    polybake("card", tiny_tag, "--output", "two", cwd=tmp_path)
    names = sorted(path.name for path in (tmp_path / "one").iterdir())
    assert [Path(name).suffix for name in names] == [".json", ".md"]
    for name in names:
        text = (tmp_path / "one" / name).read_text("utf-8")
        assert text == (tmp_path / "two" / name).read_text("utf-8")
        assert hashlib.sha256(tiny_tag.read_bytes()).hexdigest() in text


def test_the_task_is_told_in_the_hub_s_words(tiny_tag: Path, tmp_path: Path) -> None:
    """The card has a pipeline_tag of the hub's; the bill the file's own word."""
    polybake("card", tiny_tag, "--output", "card", cwd=tmp_path)
    (card,) = (tmp_path / "card").glob("*.md")
    assert 'pipeline_tag: "token-classification"' in card.read_text("utf-8")
    (bill,) = (tmp_path / "card").glob("*.cdx.json")
    component = json.loads(bill.read_text("utf-8"))["metadata"]["component"]
    assert component["modelCard"]["modelParameters"]["task"] == "tag"


def test_a_changed_graph_has_no_card(every_feed: Path, tmp_path: Path) -> None:
    """A card of a changed graph would hold another file's digests."""
    data = bytearray(every_feed.read_bytes())
    data[-1] ^= 1
    (tmp_path / "copy.onnx").write_bytes(data)
    printed = polybake("card", "copy.onnx", "-o", "card", cwd=tmp_path, code=1)
    assert "the graph does not match its digest" in printed
    assert not (tmp_path / "card").exists()
