"""MPNet as a BERT with positions put in place by hand, and what its relative bias does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from models.folders.tiny_folders import CONFIG, bert_weights, write_bert
from models.parts.tiny_encoders import Floats, renamed, token_embeddings
from polybake.baking.encoders.mpnet import MPNet
from polybake.baking.sources import open_source
from polybake.errors import InputError

IDS = np.array([[2, 6, 1, 17, 3]])
MASK = np.ones_like(IDS)
TYPES = "embeddings.token_type_embeddings.weight"
PLACES = "embeddings.position_embeddings.weight"
BIAS = "encoder.relative_attention_bias.weight"

MPNET: dict[str, Any] = CONFIG | {"model_type": "mpnet"}
NAMES = (
    ("attention.output.LayerNorm", "attention.LayerNorm"),
    ("attention.output.dense", "attention.attn.o"),
    ("attention.self.query", "attention.attn.q"),
    ("attention.self.key", "attention.attn.k"),
    ("attention.self.value", "attention.attn.v"),
)


def mpnet(folder: Path, weights: dict[str, Floats], bias: Floats) -> Floats:
    names = {name: array for name, array in renamed(weights, *NAMES).items() if name != TYPES}
    write_bert(folder / "mpnet", MPNET, names | {BIAS: bias})
    return token_embeddings(folder / "mpnet", folder, input_ids=IDS, attention_mask=MASK)


def test_is_bert_where_the_bias_is_even(tmp_path: Path) -> None:
    """MPNet with one bias for all distances is BERT with positions from 2 that skip padding."""
    weights = bert_weights() | {TYPES: np.zeros((2, 12), np.float32)}
    found = mpnet(tmp_path, weights, np.full((32, 3), 0.7, np.float32))
    bert = write_bert(
        tmp_path / "bert",
        CONFIG | {"max_position_embeddings": 5},
        weights | {PLACES: weights[PLACES][[2, 3, 1, 4, 5]]},
    )
    expected = token_embeddings(bert, tmp_path, input_ids=IDS, attention_mask=MASK)
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_the_bias_reaches_every_layer(tmp_path: Path) -> None:
    """A bias that lets tokens see only themselves makes each one blind for the others."""
    bias = np.full((32, 3), -100.0, np.float32)
    bias[0] = 0.0
    weights = bert_weights()
    found = mpnet(tmp_path, weights, bias)
    words = "embeddings.word_embeddings.weight"
    changed = weights[words].copy()
    changed[IDS[0, 1]] *= -1.0
    other = mpnet(tmp_path, weights | {words: changed}, bias)
    np.testing.assert_array_equal(found[:, [0, 2, 3, 4]], other[:, [0, 2, 3, 4]])
    assert np.abs(found[:, 1] - other[:, 1]).max() > 0.01


@pytest.mark.parametrize(
    ("key", "value"),
    [("relative_attention_num_buckets", 16), ("hidden_act", "mish"), ("hidden_size", "12")],
)
def test_refuses_what_it_does_not_compute(key: str, value: object, tmp_path: Path) -> None:
    """A configuration outside the formula is an error that names the key."""
    folder = write_bert(tmp_path / "model", MPNET | {key: value}, bert_weights())
    with pytest.raises(InputError, match=f"config.json: {key}: "):
        open_source(folder)


def test_far_keys_share_buckets_up_to_128() -> None:
    """Buckets are those of transformers' ``relative_position_bucket``; no setting changes them."""
    config = MPNet.Config.model_validate(MPNET)
    buckets = MPNet(config).encoder.relative_attention_bias.buckets
    assert len(buckets) == 257
    assert [buckets[128 + distance] for distance in (-128, -70, 0, 7, 8, 70, 128)] == [
        *(15, 14, 0),
        *(23, 24, 30, 31),
    ]
