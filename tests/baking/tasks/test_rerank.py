"""Rerankers: what is baked, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import polybake
from models.files.task_models import write_labelled, write_reranker
from models.folders.tiny_folders import change_json
from polybake.baking.sources import open_source
from polybake.baking.tasks import Found, Rerank, task_of
from polybake.base.modelfile.container import read_head
from polybake.base.modelfile.fixture import decode_vectors
from polybake.errors import InputError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A BERT with one label."""
    return write_labelled(tmp_path / "model", "LABEL_0")


def test_one_label_is_a_reranker(folder: Path) -> None:
    """A model with one label is a reranker, unless the user says that it classifies."""
    assert task_of(open_source(folder)).name == "rerank"
    assert task_of(open_source(folder), "classify").name == "classify"


def test_pairs_are_in_the_file(tmp_path: Path) -> None:
    """Types reach the graph, the tokenizer is bare, and answers rank the documents of a call."""
    path = write_reranker(tmp_path / "tiny-reranker.onnx")
    head = read_head(path)
    contract = head.manifest.contract
    assert contract.pair is not None
    assert contract.pair.truncate == "longest_first"
    assert [one.feed for one in contract.inputs][-1] == "token_type_ids"
    assert '"post_processor":null' in head.tokenizer
    for case in head.fixture.cases:
        scores = decode_vectors(case.embeddings)[:, 0]
        assert case.call is not None
        assert [document for _, document in case.texts] == case.call["documents"]
        assert {query for query, _ in case.texts} == {case.call["query"]}
        places = [rank["index"] for rank in case.answer]
        assert sorted(places) == [*range(len(scores))]
        assert [rank["score"] for rank in case.answer] == sorted(map(float, scores), reverse=True)
    assert polybake.Embedder(path).self_check() == 0.0


def test_a_pair_at_the_limit_is_cut_on_both_sides(tmp_path: Path) -> None:
    """No row is longer than the model takes, and the longest cases have just as many tokens."""
    head = read_head(write_reranker(tmp_path / "tiny-reranker.onnx"))
    lengths = {case.id: [*map(len, case.input_ids)] for case in head.fixture.cases}
    limit = head.manifest.contract.max_length
    assert max(map(max, lengths.values())) == limit
    assert lengths["one-over"][0] == limit


def test_equal_scores_keep_the_order_of_the_documents() -> None:
    """A sort that is not stable would turn them from language to language."""
    found = np.array([[0.25], [0.5], [0.25]], np.float32)
    assert [rank["index"] for rank in Rerank().answer(Found(found))] == [1, 0, 2]


@pytest.mark.parametrize(
    ("settings", "steps"),
    [
        ({}, "activation(function=sigmoid)"),
        ({"sbert_ce_default_activation_function": "torch.nn.modules.activation.Tanh"}, "tanh"),
        (
            {"sentence_transformers": {"activation_fn": "torch.nn.modules.linear.Identity"}},
            "activation=identity)",
        ),
    ],
)
def test_the_activation_is_the_models_own(
    folder: Path, tmp_path: Path, settings: dict[str, object], steps: str
) -> None:
    """The activation is read from both places where sentence-transformers has written it."""
    change_json(folder / "config.json", **settings)
    report = polybake.bake(folder, tmp_path / "m.onnx", name="m")
    assert steps in report.manifest.steps[-1]


def test_a_regression_must_be_named(folder: Path, tmp_path: Path) -> None:
    """The number may rate a text as it is, or a pair behind CrossEncoder's sigmoid."""
    change_json(folder / "config.json", problem_type="regression")
    message = 'problem_type is regression.*task = "rerank".*task = "classify"'
    with pytest.raises(InputError, match=message):
        polybake.bake(folder, tmp_path / "m.onnx", name="m")
    report = polybake.bake(folder, tmp_path / "m.onnx", name="m", task="rerank")
    assert report.manifest.steps[-1] == "activation(function=sigmoid)"
    labels = ["quality"]
    report = polybake.bake(folder, tmp_path / "n.onnx", name="n", task="classify", labels=labels)
    assert "activation=identity" in report.manifest.steps[-1]


def test_a_regression_of_a_cross_encoder_is_a_reranker(folder: Path) -> None:
    """sentence-transformers scores pairs with such a model, whatever its problem_type."""
    marks = {"activation_fn": "torch.nn.modules.activation.Sigmoid", "version": "5.1.0"}
    change_json(folder / "config.json", problem_type="regression", sentence_transformers=marks)
    assert task_of(open_source(folder)).name == "rerank"


def test_types_are_fed_where_the_tokenizer_gives_them(folder: Path, tmp_path: Path) -> None:
    """tokenizer_config.json may say that the tokenizer gives no types."""
    change_json(folder / "tokenizer_config.json", model_input_names=["input_ids", "attention_mask"])
    report = polybake.bake(folder, tmp_path / "m.onnx", name="m")
    assert [one.feed for one in report.manifest.contract.inputs] == ["input_ids", "attention_mask"]
