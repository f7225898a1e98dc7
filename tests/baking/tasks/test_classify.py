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
from polybake.base.files.model_folder import ModelFolder
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


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"id2label": {"0": "a", "1": "b"}},
            r"id2label of config.json names 2 labels, and the steps give 4 numbers",
        ),
        (
            {"id2label": dict(zip("0123", "abca", strict=True))},
            r"the label 'a' stands twice in id2label of config.json; give each number a name",
        ),
        (
            {"id2label": dict(zip("0123", ["a", "b", "", "c"], strict=True))},
            r"the label of number 2 in id2label of config.json is empty; give it a name",
        ),
        (
            {"id2label": {"0": "LABEL_0", "1": "LABEL_1"}},
            r"has LABEL_0, LABEL_1, which say nothing; name the 4 there or in \[model\], such as",
        ),
        ({"id2label": {"1": "a", "2": "b"}}, r"id2label: expected the keys 0 to 1, found 1, 2"),
    ],
)
def test_wrong_labels_are_refused(
    folder: Path, tmp_path: Path, changes: dict[str, object], message: str
) -> None:
    """Labels that are missing, repeated or empty are named with the remedy; nothing is written."""
    change_json(folder / "config.json", **changes)
    with pytest.raises(InputError, match=message):
        polybake.bake(folder, tmp_path / "m.onnx", name="m")
    assert not (tmp_path / "m.onnx").exists()


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


def test_what_was_not_trained_for_it_is_refused(tmp_path: Path) -> None:
    """An encoder alone has no labels."""
    with pytest.raises(InputError, match="was not trained to classify texts; expected a model"):
        polybake.bake(
            write_bert(tmp_path / "model"), tmp_path / "m.onnx", name="m", task="classify"
        )


def test_prompts_are_refused(folder: Path, tmp_path: Path) -> None:
    """Clients of this task put nothing before a text."""
    with pytest.raises(InputError, match="prompts: query: a model of the task 'classify' has none"):
        polybake.bake(folder, tmp_path / "m.onnx", name="m", prompts={"query": "q: "})


def test_an_unknown_task_is_refused(folder: Path, tmp_path: Path) -> None:
    """The message lists the tasks that exist."""
    with pytest.raises(
        InputError,
        match="unknown task 'label'; choose one of: rerank, zero-shot, classify-pairs, classify, ",
    ):
        polybake.bake(folder, tmp_path / "m.onnx", name="m", task="label")


def test_the_folder_is_named(folder: Path) -> None:
    """A message about labels says whose they are."""
    source = open_source(folder)
    assert isinstance(source.folder, ModelFolder)
    with pytest.raises(InputError, match=rf"{folder}: id2label of config.json names 4 labels"):
        Classify().settings(source, 3)
