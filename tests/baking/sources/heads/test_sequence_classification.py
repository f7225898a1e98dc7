"""Heads that give a number for each label; tests/oracle/test_classify.py compares their numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from models.files.task_models import head_weights
from models.folders.tiny_folders import CONFIG, bert_weights, change_json, write_bert
from models.formulas.decoder_numpy import DECODER
from polybake.baking.sources.heads import open_head
from polybake.base.files.model_folder import ModelFolder
from polybake.errors import InputError
from polybake.steps import Dense, Pool, Scale, Step


def saved(folder: Path, without: str = "", **settings: object) -> ModelFolder:
    """A BERT with a head of two labels; no weight whose name begins with ``without``."""
    config = CONFIG | {"architectures": ["BertForSequenceClassification"], **settings}
    weights = {
        name: array
        for name, array in (bert_weights() | head_weights(2)).items()
        if not without or not name.startswith(without)
    }
    return ModelFolder.at(write_bert(folder, config, weights))


def test_it_reads_as_steps(tmp_path: Path) -> None:
    """BERT's: the first token, its pooler, and a linear layer."""
    head = open_head(saved(tmp_path))
    assert head is not None
    first, pooler, linear = head.steps()
    assert first == Pool(mode="cls")
    assert isinstance(pooler, Dense)
    assert isinstance(linear, Dense)
    assert (pooler.activation, linear.weight.shape) == ("tanh", (2, 12))
    assert (head.labels, head.scores) == (("LABEL_0", "LABEL_1"), "softmax")


@pytest.mark.parametrize(
    ("settings", "scores"),
    [
        ({"problem_type": "multi_label_classification"}, "sigmoid"),
        ({"problem_type": "single_label_classification"}, "softmax"),
        ({"problem_type": "regression"}, None),
        ({"id2label": {"0": "toxic"}}, "sigmoid"),
    ],
)
def test_scores_go_by_the_problem(
    tmp_path: Path, settings: dict[str, object], scores: str | None
) -> None:
    """As transformers' pipeline does."""
    head = open_head(saved(tmp_path, **settings))
    assert head is not None
    assert head.scores == scores


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
    """What is not computed is named beside what is."""
    with pytest.raises(InputError, match=r"config\.json: pooling = .* expected avg, cls, last and"):
        nvidia(tmp_path, **settings)


def test_an_encoder_has_none(tmp_path: Path) -> None:
    """Nor has one whose architecture is not named."""
    assert open_head(ModelFolder.at(write_bert(tmp_path))) is None


def test_a_head_that_is_not_known_is_refused(tmp_path: Path) -> None:
    """With those that are."""
    folder = saved(tmp_path)
    change_json(tmp_path / "config.json", model_type="nomic_bert")
    head = open_head(folder)
    assert head is not None
    with pytest.raises(InputError, match="head of 'nomic_bert' is not known; known are: albert"):
        head.steps()


@pytest.mark.parametrize("name", ["pooler", "classifier.weight"])
def test_a_missing_weight_is_named(tmp_path: Path, name: str) -> None:
    """A configuration that names a head says nothing of the weights."""
    head = open_head(saved(tmp_path, without=name))
    assert head is not None
    with pytest.raises(InputError, match=rf"has no {name}.*, which the model's head needs"):
        head.steps()
