"""Sparse vectors and vectors of tokens, from the folder to golden answers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import polybake
from models.files.task_models import masked_lm_weights, write_colbert, write_splade
from models.folders.tiny_folders import CONFIG, VOCABULARY, write_bert
from polybake.baking.bake_config import bake_config
from polybake.baking.sources import open_source
from polybake.baking.tasks import Found, MultiVector, Sparse, task_of
from polybake.baking.tasks.multi_vector import max_sim
from polybake.base.modelfile.container import read_head
from polybake.base.modelfile.fixture import decode_vectors
from polybake.config import Config
from polybake.errors import InputError


def baked(source: Path, out: Path, **settings: object) -> Path:
    table = {"name": "tiny", "source": source, "output": out, **settings}
    bake_config(Config.model_validate({"model": table}))
    return out


def test_sparse_vectors_are_in_the_file(tiny_sparse: Path) -> None:
    """Vectors are stored without their zeros, and answers name the heaviest tokens."""
    head = read_head(tiny_sparse)
    contract = head.manifest.contract
    assert (contract.task, contract.output.name) == ("sparse", "sparse_embedding")
    assert head.manifest.similarity == "dot"
    assert contract.prompts == {"query": "query: ", "document": "passage: "}
    assert any(case.prompt for case in head.fixture.cases)
    for case in head.fixture.cases:
        assert case.call == {"texts": [*case.texts], "top": 8, "prompt": case.prompt}
        for row, answer in zip(decode_vectors(case.embeddings), case.answer, strict=True):
            weights = {token: float(weight) for token, weight in zip(VOCABULARY, row, strict=True)}
            best = sorted(filter(None, weights.values()), reverse=True)[:8]
            assert [one["score"] for one in answer] == best
            assert {one["token"]: one["score"] for one in answer}.items() <= weights.items()
    assert all(case.embeddings.places is not None for case in head.fixture.cases)


def test_a_masked_language_model(tmp_path: Path) -> None:
    """A masked language model embeds by default, and weighs tokens where the task asks for it."""
    config = CONFIG | {"architectures": ["BertForMaskedLM"]}
    source = write_bert(tmp_path / "m", config, masked_lm_weights())
    sparse = read_head(baked(source, tmp_path / "sparse.onnx", task="sparse"))
    library = read_head(baked(write_splade(tmp_path / "s", prompts={}), tmp_path / "tiny.onnx"))
    assert task_of(open_source(source)).name == "embed"
    assert sparse.manifest.steps == library.manifest.steps
    assert sparse.fixture.cases == library.fixture.cases


def test_fewer_elements_may_be_kept(tmp_path: Path) -> None:
    """max_active_dims of config_sentence_transformers.json limits the elements of a vector."""
    source = write_splade(tmp_path / "m", max_active_dims=3)
    for case in read_head(baked(source, tmp_path / "tiny.onnx")).fixture.cases:
        assert (np.count_nonzero(decode_vectors(case.embeddings), axis=1) <= 3).all()
        assert all(len(text) <= 3 for text in case.answer)


def test_equal_weights_keep_the_order_of_the_ids() -> None:
    """Equal weights stay in the order of their ids, and tokens of weight 0 are left out."""
    found = np.array([[0.0, 1.0, 2.0, 0.0, 1.0]], np.float32)
    answer = Sparse().answer(Found(found))
    assert answer == [
        [
            {"token": "2", "score": 2.0},
            {"token": "1", "score": 1.0},
            {"token": "4", "score": 1.0},
        ]
    ]


def test_rows_and_answers_are_in_the_file(tiny_multi_vector: Path) -> None:
    """The answer tells each text's rows: nine for queries, for documents some fewer than tokens."""
    head = read_head(tiny_multi_vector)
    contract = head.manifest.contract
    assert (contract.task, contract.output.counts) == ("multi-vector", "row_counts")
    assert head.manifest.similarity == "maxsim"
    short = 0
    for case in head.fixture.cases:
        rows = [text["rows"] for text in case.answer]
        assert sum(rows) == len(decode_vectors(case.embeddings))
        assert case.call == {"texts": [*case.texts], "prompt": case.prompt}
        if case.prompt == "query":
            assert rows == [9] * len(case.texts)
        else:
            tokens = [min(len(ids), 24) for ids in case.input_ids]
            assert all(found <= most for found, most in zip(rows, tokens, strict=True))
            short += sum(tokens) - sum(rows)
    assert short > 10
    model = polybake.Embedder(tiny_multi_vector)
    assert model.self_check() == 0
    with pytest.raises(InputError, match="gives a text several vectors; ask it by a client"):
        model.embed(["the boat"])


def test_rows_do_not_depend_on_batches(tiny_multi_vector: Path) -> None:
    """Rows of many texts, batched by length, equal those of each text alone."""
    runner = polybake.Embedder(tiny_multi_vector).runner
    rows = runner.ids([word * (place % 9 + 1) for place in range(99) for word in ("a.", "the ")])
    alone = np.concatenate([runner.vectors([row]) for row in rows])
    assert runner.embed(rows) == pytest.approx(alone, abs=1e-6)


@pytest.mark.parametrize("precision", ["float16", "int8", "int4"])
def test_other_precisions(precision: str, tmp_path: Path) -> None:
    """Rows are judged as vectors are."""
    out = baked(write_colbert(tmp_path / "m"), tmp_path / "tiny.onnx", precision=precision)
    deviation = read_head(out).manifest.deviation
    assert deviation is not None
    assert deviation.min_cosine > 0.99


def test_relevance_is_the_sum_of_the_largest_products() -> None:
    """A document without rows has relevance 0."""
    query = np.array([[1, 0], [0.5, 0.5]], np.float32)
    document = np.array([[0, 1], [0.5, 0], [-1, -1]], np.float32)
    assert max_sim(query, document) == pytest.approx(0.5 + 0.5)
    assert max_sim(query, document[:0]) == 0
    vectors = np.concatenate([query, document])
    answer = MultiVector().answer(Found(vectors, counts=np.array([2, 3, 0])))
    assert answer == [
        {"rows": 2, "max_sim": pytest.approx(1.5)},
        {"rows": 3, "max_sim": pytest.approx(1.0)},
        {"rows": 0, "max_sim": 0.0},
    ]
