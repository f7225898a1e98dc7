"""Damaged heads: the committed files, and what the core says of each."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from heads.write import cases, write
from polybake.base.modelfile.container import read_head
from polybake.errors import InputError

HEADS = Path(__file__).parents[3] / "fixtures" / "heads"
CASES = json.loads((HEADS / "heads.json").read_text(encoding="ascii"))["heads"]


@pytest.mark.parametrize(
    "case", [case for case in CASES if case["readers"] == "all"], ids=lambda case: case["id"]
)
def test_the_core_says_what_every_reader_says(case: dict[str, str]) -> None:
    """The verdict and the words are those of every language, which share these files."""
    path = HEADS / f"{case['id']}.onnx"
    if case["message"] is None:
        assert read_head(path).manifest.name == "heads-of-files"
        return
    with pytest.raises(InputError) as caught:
        read_head(path)
    assert str(caught.value) == f"{path}: {case['message'].replace('FOLDER', str(HEADS))}"


def test_the_committed_files_are_fresh(tmp_path: Path) -> None:
    """The folder is what tools/heads writes."""
    write(tmp_path)
    found = {file.name: file.read_bytes() for file in HEADS.iterdir()}
    assert found == {file.name: file.read_bytes() for file in tmp_path.iterdir()}


def test_ids_are_unique() -> None:
    """A case would otherwise take another one's file."""
    ids = [case.id for case in cases()]
    assert len(ids) == len(set(ids)) >= 60
