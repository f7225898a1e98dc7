"""Heads of tokens; tests/oracle/test_tag.py compares their numbers."""

from __future__ import annotations

from pathlib import Path

import pytest

from models.files.task_models import TAGS, linear_weights, write_labelled_tokens
from models.folders.tiny_folders import change_json
from polybake.baking.sources.heads import open_head
from polybake.baking.sources.source import TaskHead
from polybake.base.files.model_folder import ModelFolder
from polybake.errors import InputError
from polybake.steps import Dense


def opened(folder: Path, **settings: object) -> TaskHead:
    path = write_labelled_tokens(folder)
    change_json(path / "config.json", **settings)
    head = open_head(ModelFolder.at(path))
    assert head is not None
    return head


def test_it_reads_as_steps(tmp_path: Path) -> None:
    """BERT's is one layer."""
    head = opened(tmp_path)
    (dense,) = head.steps()
    assert (head.kind, head.labels) == ("ForTokenClassification", TAGS)
    assert isinstance(dense, Dense)
    assert dense.activation == "identity"
    assert (dense.weight == linear_weights("classifier", len(TAGS))["classifier.weight"]).all()


def test_what_is_not_there_is_named(tmp_path: Path) -> None:
    """A layer of another name, and a family that has no known head."""
    with pytest.raises(InputError, match=r"has no score\.weight"):
        opened(tmp_path / "a", model_type="qwen2").steps()
    with pytest.raises(InputError, match="head of tokens of 't5' is not known; known are: albert"):
        opened(tmp_path / "b", model_type="t5").steps()
