"""Heads of answers; tests/oracle/test_answer.py compares their numbers."""

from __future__ import annotations

from pathlib import Path

import pytest

from models.files.task_models import linear_weights, write_spans
from models.folders.tiny_folders import change_json
from polybake.baking.sources.heads import open_head
from polybake.baking.sources.source import TaskHead
from polybake.base.files.model_folder import ModelFolder
from polybake.errors import InputError
from polybake.steps import Dense


def opened(folder: Path, **settings: object) -> TaskHead:
    path = write_spans(folder)
    change_json(path / "config.json", **settings)
    head = open_head(ModelFolder.at(path))
    assert head is not None
    return head


def test_it_reads_as_steps(tmp_path: Path) -> None:
    """BERT's is one layer, of a beginning and an end."""
    head = opened(tmp_path)
    (dense,) = head.steps()
    assert (head.kind, head.labels) == ("ForQuestionAnswering", ())
    assert isinstance(dense, Dense)
    assert (dense.weight == linear_weights("qa_outputs", 2)["qa_outputs.weight"]).all()


def test_an_unknown_family_is_refused(tmp_path: Path) -> None:
    """With those that are known."""
    with pytest.raises(InputError, match="head of answers of 'qwen2' is not known; known are: al"):
        opened(tmp_path, model_type="qwen2").steps()
