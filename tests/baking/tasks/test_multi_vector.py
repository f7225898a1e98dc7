"""Vectors of tokens, from the folder to golden answers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import polybake
from models.files.task_models import write_colbert
from polybake.baking.bake_config import bake_config
from polybake.baking.tasks import Found, MultiVector
from polybake.baking.tasks.multi_vector import max_sim
from polybake.base.modelfile.container import read_head
from polybake.base.modelfile.fixture import decode_vectors
from polybake.config import Config
from polybake.errors import InputError


def test_rows_and_answers_are_in_the_file(tmp_path: Path) -> None:
    """The answer tells each text's rows: nine for queries, for documents some fewer than tokens."""
    polybake.bake(write_colbert(tmp_path / "m"), tmp_path / "tiny.onnx", name="tiny")
    head = read_head(tmp_path / "tiny.onnx")
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
    model = polybake.Embedder(tmp_path / "tiny.onnx")
    assert model.self_check() == 0
    with pytest.raises(InputError, match="gives a text several vectors; ask it by a client"):
        model.embed(["the boat"])


def test_rows_do_not_depend_on_batches(tmp_path: Path) -> None:
    """Rows of many texts, batched by length, equal those of each text alone."""
    polybake.bake(write_colbert(tmp_path / "m"), tmp_path / "tiny.onnx", name="tiny")
    runner = polybake.Embedder(tmp_path / "tiny.onnx").runner
    rows = runner.ids([word * (place % 9 + 1) for place in range(99) for word in ("a.", "the ")])
    alone = np.concatenate([runner.vectors([row]) for row in rows])
    assert runner.embed(rows) == pytest.approx(alone, abs=1e-6)


@pytest.mark.parametrize("precision", ["float16", "int8", "int4"])
def test_other_precisions(precision: str, tmp_path: Path) -> None:
    """Rows are judged as vectors are."""
    table = {"name": "tiny", "source": write_colbert(tmp_path / "m"), "precision": precision}
    table["output"] = tmp_path / "tiny.onnx"
    bake_config(Config.model_validate({"model": table}))
    deviation = read_head(tmp_path / "tiny.onnx").manifest.deviation
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
