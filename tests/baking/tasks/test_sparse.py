"""Sparse embeddings, from the folder to golden answers."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from models.files.task_models import masked_lm_weights, write_splade
from models.folders.tiny_folders import CONFIG, VOCABULARY, write_bert
from polybake.baking.bake_config import bake_config
from polybake.baking.sources import open_source
from polybake.baking.tasks import Found, Sparse, task_of
from polybake.base.modelfile.container import read_head
from polybake.base.modelfile.fixture import decode_vectors
from polybake.config import Config


def baked(source: Path, out: Path, task: str | None = None) -> Path:
    table = {"name": "tiny", "source": source, "output": out, "task": task}
    bake_config(Config.model_validate({"model": table}))
    return out


def test_folders_of_the_library(tmp_path: Path) -> None:
    """Vectors are stored without their zeros, and answers name the heaviest tokens."""
    head = read_head(baked(write_splade(tmp_path / "m"), tmp_path / "tiny.onnx"))
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
