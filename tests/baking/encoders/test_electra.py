"""ELECTRA as a BERT, with and without projected embeddings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from models.folders.tiny_folders import CONFIG, bert_weights, write_bert
from models.parts.tiny_encoders import token_embeddings
from polybake.baking.sources import open_source
from polybake.errors import InputError

FED = {
    "input_ids": np.array([[2, 6, 9, 17, 3], [2, 30, 3, 0, 0]]),
    "attention_mask": np.array([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]]),
}
ELECTRA: dict[str, Any] = CONFIG | {"model_type": "electra"}


def test_is_bert_where_sizes_are_equal(tmp_path: Path) -> None:
    """Embeddings of the hidden size are not projected."""
    folder = write_bert(tmp_path / "electra", ELECTRA | {"embedding_size": 12}, bert_weights())
    bert = write_bert(tmp_path / "bert")
    np.testing.assert_array_equal(
        token_embeddings(folder, tmp_path, **FED), token_embeddings(bert, tmp_path, **FED)
    )


def test_embeddings_are_projected_after_their_norm(tmp_path: Path) -> None:
    """BERT with the projected bias gives the same, if the norm leaves only its bias."""
    weights = bert_weights()
    random = np.random.default_rng(4)
    small = {
        name: array[..., :7] if name.startswith("embeddings.") else array
        for name, array in weights.items()
    }
    small["embeddings.LayerNorm.weight"] = np.zeros(7, np.float32)
    project = random.normal(0.0, 0.2, (12, 7)).astype(np.float32)
    bias = random.normal(0.0, 0.2, 12).astype(np.float32)
    small = {name: np.ascontiguousarray(array) for name, array in small.items()}
    small |= {"embeddings_project.weight": project, "embeddings_project.bias": bias}
    folder = write_bert(tmp_path / "electra", ELECTRA | {"embedding_size": 7}, small)
    same = project @ small["embeddings.LayerNorm.bias"] + bias
    weights["embeddings.LayerNorm.weight"] = np.zeros(12, np.float32)
    weights["embeddings.LayerNorm.bias"] = same
    bert = write_bert(tmp_path / "bert", CONFIG, weights)
    np.testing.assert_allclose(
        token_embeddings(folder, tmp_path, **FED),
        token_embeddings(bert, tmp_path, **FED),
        atol=1e-6,
    )


@pytest.mark.parametrize(("key", "value"), [("embedding_size", 0), ("is_decoder", True)])
def test_refuses_what_it_does_not_compute(key: str, value: object, tmp_path: Path) -> None:
    """A configuration outside the formula is an error that names the key."""
    folder = write_bert(tmp_path / "model", ELECTRA | {key: value}, bert_weights())
    with pytest.raises(InputError, match=f"config.json: {key}: "):
        open_source(folder)
