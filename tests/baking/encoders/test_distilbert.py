"""DistilBERT as a BERT without token types, under other names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from models.folders.tiny_folders import CONFIG, bert_weights, write_bert
from models.parts.tiny_encoders import renamed, token_embeddings
from polybake.baking.sources import open_source
from polybake.errors import InputError

IDS = np.array([[2, 6, 9, 17, 3], [2, 30, 3, 0, 0]])
MASK = np.array([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]])
TYPES = "embeddings.token_type_embeddings.weight"

DISTILBERT: dict[str, Any] = {
    "model_type": "distilbert",
    "vocab_size": CONFIG["vocab_size"],
    "dim": 12,
    "n_layers": 2,
    "n_heads": 3,
    "hidden_dim": 20,
    "max_position_embeddings": 40,
    "activation": "relu",
}
NAMES = (
    ("encoder.layer", "transformer.layer"),
    ("attention.output.LayerNorm", "sa_layer_norm"),
    ("attention.output.dense", "attention.out_lin"),
    ("attention.self.query", "attention.q_lin"),
    ("attention.self.key", "attention.k_lin"),
    ("attention.self.value", "attention.v_lin"),
    ("intermediate.dense", "ffn.lin1"),
    ("output.dense", "ffn.lin2"),
    ("output.LayerNorm", "output_layer_norm"),
)


def test_is_bert_without_token_types(tmp_path: Path) -> None:
    """BERT with the same weights and type embeddings of zero gives the same vectors."""
    weights = bert_weights() | {TYPES: np.zeros((2, 12), np.float32)}
    names = {name: array for name, array in renamed(weights, *NAMES).items() if name != TYPES}
    folder = write_bert(tmp_path / "distilbert", DISTILBERT, names)
    found = token_embeddings(folder, tmp_path, input_ids=IDS, attention_mask=MASK)
    bert = write_bert(tmp_path / "bert", CONFIG | {"hidden_act": "relu"}, weights)
    expected = token_embeddings(bert, tmp_path, input_ids=IDS, attention_mask=MASK)
    np.testing.assert_allclose(found, expected, atol=1e-6)


@pytest.mark.parametrize(
    ("key", "value", "shown"),
    [
        ("dim", "12", "dim: "),
        ("n_heads", 5, "no multiple of num_attention_heads 5"),
        ("activation", "mish", "activation: .*known are: gelu"),
        ("n_layers", None, "n_layers: "),
    ],
)
def test_refuses_what_it_does_not_compute(
    key: str, value: object, shown: str, tmp_path: Path
) -> None:
    """A configuration outside the formula is an error that names DistilBERT's own key."""
    folder = write_bert(tmp_path / "model", DISTILBERT | {key: value}, bert_weights())
    with pytest.raises(InputError, match=shown):
        open_source(folder)
