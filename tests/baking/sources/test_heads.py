"""Heads as steps; tests/oracle compares their numbers with transformers'."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from models.files.task_models import head_weights, linear_weights, masked_lm_weights
from models.folders.tiny_folders import CONFIG, bert_weights, write_bert
from models.formulas.decoder_numpy import DECODER
from polybake.baking.sources.heads import open_head
from polybake.baking.sources.source import TaskHead
from polybake.base.files.model_folder import ModelFolder
from polybake.errors import InputError
from polybake.steps import Dense, Pool, Scale, Step

#: What a BERT has behind its encoder, by the end of its architecture.
WEIGHTS = {
    "MaskedLM": masked_lm_weights(),
    "QuestionAnswering": linear_weights("qa_outputs", 2),
    "SequenceClassification": head_weights(2),
    "TokenClassification": linear_weights("classifier", 3),
}


def opened(folder: Path, end: str, without: str = "-", **settings: object) -> TaskHead:
    """The head of a BERT, without the weights whose names begin so."""
    config = CONFIG | {"architectures": [f"BertFor{end}"], **settings}
    weights = bert_weights() | WEIGHTS[end]
    kept = {name: one for name, one in weights.items() if not name.startswith(without)}
    head = open_head(ModelFolder.at(write_bert(folder, config, kept)))
    assert head is not None
    assert head.kind == f"For{end}"
    return head


@pytest.mark.parametrize(
    ("end", "without", "settings", "shown"),
    [
        ("MaskedLM", "cls.predictions.transform.dense", {}, r"no cls\.predictions\.transform\.de"),
        ("SequenceClassification", "pooler", {}, "has no pooler.*, which the model's head needs"),
        ("SequenceClassification", "classifier", {}, r"has no classifier\.weight"),
        ("TokenClassification", "", {"model_type": "qwen2"}, r"has no score\.weight"),
        ("MaskedLM", "-", {"model_type": "t5"}, "language model of 't5' .*; known are: albert"),
        ("QuestionAnswering", "-", {"model_type": "qwen2"}, "of answers of 'qwen2' .*are: albert"),
        ("SequenceClassification", "-", {"model_type": "nomic_bert"}, "'nomic_bert' is not known"),
        ("TokenClassification", "-", {"model_type": "t5"}, "of tokens of 't5' .*are: albert"),
    ],
)
def test_what_is_not_there_is_named(
    end: str, without: str, settings: dict[str, object], shown: str, tmp_path: Path
) -> None:
    """A weight, or a family that has no known head."""
    with pytest.raises(InputError, match=shown):
        opened(tmp_path, end, without, **settings).steps()


def nvidia(folder: Path, **settings: object) -> list[Step]:
    """The steps of NVIDIA's reranker."""
    config = DECODER | {
        "model_type": "llama_bidirec",
        "architectures": ["LlamaBidirectionalForSequenceClassification"],
        "id2label": {"0": "LABEL_0"},
        **settings,
    }
    weights = {"score.weight": np.ones((1, 24), np.float32)}
    head = open_head(ModelFolder.at(write_bert(folder, config, weights)))
    assert head is not None
    return head.steps()


@pytest.mark.parametrize(("pooling", "mode"), [("avg", "mean"), ("last", "lasttoken")])
def test_nvidias_reranker(pooling: str, mode: str, tmp_path: Path) -> None:
    """It pools as it says, and divides by its temperature; its layer has no bias."""
    pool, dense, scale = nvidia(tmp_path, pooling=pooling, temperature=0.25)
    assert (pool, scale) == (Pool.model_validate({"mode": mode}), Scale(factor=4.0))
    assert isinstance(dense, Dense)
    assert dense.bias is None


@pytest.mark.parametrize("settings", [{"pooling": "weighted_avg"}, {"temperature": 0.0}])
def test_nvidias_other_poolings(settings: dict[str, object], tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"config\.json: pooling = .* expected avg, cls, last and"):
        nvidia(tmp_path, **settings)
