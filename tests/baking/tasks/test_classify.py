"""Labels and their scores: what is baked of a classifier, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import polybake
from models.files.task_models import LABELS, write_labelled
from models.folders.tiny_folders import CONFIG, change_json, write_bert
from polybake.baking.sources import open_source
from polybake.baking.tasks import Classify, Found, Known, task_of
from polybake.base.modelfile.container import read_head
from polybake.base.modelfile.fixture import decode_vectors
from polybake.errors import InputError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A BERT with four labels."""
    return write_labelled(tmp_path / "model", *LABELS)


def test_it_is_found(folder: Path) -> None:
    """The architecture in config.json names the task, unless the user's steps make embeddings."""
    assert task_of(open_source(folder)).name == "classify"
    change_json(folder / "config.json", architectures=["BertModel"])
    assert task_of(open_source(folder)).name == "embed"


def test_labels_and_answers_are_in_the_file(folder: Path, tmp_path: Path) -> None:
    """Scores are probabilities in the labels' order; answers hold them best first."""
    polybake.bake(folder, tmp_path / "m.onnx", name="moods")
    head = read_head(tmp_path / "m.onnx")
    contract = head.manifest.contract
    assert (contract.task, contract.settings) == ("classify", {"labels": list(LABELS)})
    assert (contract.output.name, contract.output.dimension) == ("scores", 4)
    for case in head.fixture.cases:
        scores = decode_vectors(case.embeddings)
        assert scores.sum(axis=1) == pytest.approx(1)
        for row, answer in zip(scores, case.answer, strict=True):
            assert [one["score"] for one in answer] == sorted(map(float, row), reverse=True)
            assert {one["label"]: one["score"] for one in answer} == dict(
                zip(LABELS, map(float, row), strict=True)
            )


def test_equal_scores_keep_the_order_of_the_labels() -> None:
    """A sort that is not stable would turn them from language to language."""
    found = np.array([[0.25, 0.5, 0.25]], np.float32)
    (answer,) = Classify().answer(Found(found, known=Known({"labels": ["a", "b", "c"]})))
    assert [one["label"] for one in answer] == ["b", "a", "c"]


def test_steps_of_ones_own_make_embeddings(folder: Path, tmp_path: Path) -> None:
    """The encoder of a classifier may embed; its head is left out then."""
    polybake.bake(folder, tmp_path / "m.onnx", name="m", steps=[{"step": "pool", "mode": "mean"}])
    assert read_head(tmp_path / "m.onnx").manifest.contract.task == "embed"


#: A head that was trained behind an embedding, as SetFit's is.
HEAD = [
    {"step": "pool", "mode": "mean"},
    {"step": "dense", "weight": "weight.npy", "bias": "bias.npy", "activation": "identity"},
    {"step": "activation", "function": "softmax"},
]


def test_a_head_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The head's layer comes from files, and its labels are named beside it."""
    random = np.random.default_rng(2)
    weight = random.normal(size=(3, CONFIG["hidden_size"])).astype(np.float32)
    bias = random.normal(size=3).astype(np.float32)
    np.save(tmp_path / "weight.npy", weight)
    np.save(tmp_path / "bias.npy", bias)
    monkeypatch.chdir(tmp_path)
    source = write_bert(tmp_path / "model")
    polybake.bake(source, "plain.onnx", name="m", steps=HEAD[:1])
    texts = ["the river", "a boat"]
    numbers = polybake.Embedder("plain.onnx").embed(texts).astype(np.float64) @ weight.T + bias
    expected = np.exp(numbers) / np.exp(numbers).sum(axis=1, keepdims=True)
    polybake.bake(source, "m.onnx", name="m", task="classify", labels=["a", "b", "c"], steps=HEAD)
    head = read_head(Path("m.onnx"))
    assert head.manifest.contract.settings == {"labels": ["a", "b", "c"]}
    assert polybake.Embedder("m.onnx").embed(texts) == pytest.approx(expected, abs=1e-6)
    with pytest.raises(InputError, match=r"model\.labels names 2 labels, and the steps give 3"):
        polybake.bake(source, "m.onnx", name="m", task="classify", labels=["a", "b"], steps=HEAD)
    with pytest.raises(InputError, match=r"model\.labels: a model of the task 'embed' has none"):
        polybake.bake(source, "m.onnx", name="m", labels=["a", "b", "c"], steps=HEAD)
