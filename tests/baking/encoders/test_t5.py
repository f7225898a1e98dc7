"""T5's encoder against an independent forward pass in NumPy."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from models.folders.tiny_folders import CONFIG, write_bert
from models.parts.tiny_encoders import Floats, random_weights, token_embeddings
from polybake.baking.encoders.t5 import T5Config
from polybake.baking.layers.relative_bias import relative_buckets
from polybake.baking.sources import open_source
from polybake.errors import InputError

IDS = np.array([[6, 9, 17, 30, 8, 5, 3], [30, 3, 0, 0, 0, 0, 0]])
MASK = np.array([[1, 1, 1, 1, 1, 1, 1], [1, 1, 0, 0, 0, 0, 0]])
HEADS, SIZE, HIDDEN, WIDE = 3, 5, 12, 20

T5: dict[str, Any] = {
    "model_type": "t5",
    "vocab_size": CONFIG["vocab_size"],
    "d_model": HIDDEN,
    "d_kv": SIZE,
    "d_ff": WIDE,
    "num_layers": 2,
    "num_heads": HEADS,
    "relative_attention_num_buckets": 8,
    "relative_attention_max_distance": 5,
}


def weights_of(gated: bool) -> dict[str, Floats]:
    shapes: dict[str, tuple[int, ...]] = {
        "shared.weight": (T5["vocab_size"], HIDDEN),
        "encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight": (8, HEADS),
        "encoder.final_layer_norm.weight": (HIDDEN,),
    }
    for number in range(T5["num_layers"]):
        block = f"encoder.block.{number}.layer"
        for part in "qkv":
            shapes[f"{block}.0.SelfAttention.{part}.weight"] = (HEADS * SIZE, HIDDEN)
        shapes[f"{block}.0.SelfAttention.o.weight"] = (HIDDEN, HEADS * SIZE)
        for part in ("wi_0", "wi_1") if gated else ("wi",):
            shapes[f"{block}.1.DenseReluDense.{part}.weight"] = (WIDE, HIDDEN)
        shapes[f"{block}.1.DenseReluDense.wo.weight"] = (HIDDEN, WIDE)
        shapes |= {f"{block}.{layer}.layer_norm.weight": (HIDDEN,) for layer in (0, 1)}
    weights = random_weights(shapes)
    # Around 1, as vectors that are too short do not show one gelu from the other.
    return {name: array + ("norm" in name) for name, array in weights.items()}


def forward(w: dict[str, Floats], ids: NDArray[np.int64], gated: bool) -> Floats:
    """The embeddings of one text, which is not padded."""
    x = w["shared.weight"][ids].astype(np.float64)
    distance = np.clip(np.arange(len(ids))[None, :] - np.arange(len(ids))[:, None], -5, 5)
    table = w["encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight"]
    bias = table[relative_buckets(8, 5)[distance + 5]]
    for number in range(T5["num_layers"]):
        block = f"encoder.block.{number}.layer"
        normed = norm(x, w[f"{block}.0.layer_norm.weight"])
        query, key, value = (normed @ w[f"{block}.0.SelfAttention.{p}.weight"].T for p in "qkv")
        heads = []
        for head in range(HEADS):
            part = slice(head * SIZE, (head + 1) * SIZE)
            scores = np.exp(query[:, part] @ key[:, part].T + bias[:, :, head])
            heads.append(scores / scores.sum(axis=1, keepdims=True) @ value[:, part])
        x = x + np.concatenate(heads, axis=1) @ w[f"{block}.0.SelfAttention.o.weight"].T
        normed = norm(x, w[f"{block}.1.layer_norm.weight"])
        dense = f"{block}.1.DenseReluDense"
        if gated:
            gate = gelu_tanh(normed @ w[f"{dense}.wi_0.weight"].T)
            wide = gate * (normed @ w[f"{dense}.wi_1.weight"].T)
        else:
            wide = np.maximum(normed @ w[f"{dense}.wi.weight"].T, 0)
        x = x + wide @ w[f"{dense}.wo.weight"].T
    return norm(x, w["encoder.final_layer_norm.weight"])


def norm(x: Floats, weight: Floats) -> Floats:
    result: Floats = x / np.sqrt((x**2).mean(axis=1, keepdims=True) + 1e-6) * weight
    return result


def gelu_tanh(x: Floats) -> Floats:
    result: Floats = x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) / 2
    return result


@pytest.mark.parametrize("projection", ["relu", "gated-gelu"])
def test_matches_numpy(projection: str, tmp_path: Path) -> None:
    """Every kept token's embedding equals the formula's, plain and gated."""
    gated = projection.startswith("gated")
    weights = weights_of(gated)
    config = T5 | {"feed_forward_proj": projection}
    folder = write_bert(tmp_path / "model", config, weights)
    found = token_embeddings(folder, tmp_path, input_ids=IDS, attention_mask=MASK)
    for row, (ids, mask) in enumerate(zip(IDS, MASK, strict=True)):
        expected = forward(weights, ids[: mask.sum()], gated)
        np.testing.assert_allclose(found[row, : mask.sum()], expected, atol=1e-5)


def test_takes_the_encoder_of_a_whole_model(tmp_path: Path) -> None:
    """A checkpoint with decoder, head and tied copies of the embeddings is understood."""
    weights = weights_of(gated=False)
    copies = ("encoder.embed_tokens.weight", "decoder.embed_tokens.weight", "lm_head.weight")
    weights |= dict.fromkeys(copies, weights["shared.weight"])
    open_source(write_bert(tmp_path / "model", T5, weights)).encoder.place()


@pytest.mark.parametrize(
    ("projection", "activation"),
    [("relu", "relu"), ("gated-gelu", "gelu_new"), ("gated-silu", "silu"), ("gelu", "gelu")],
)
def test_takes_what_transformers_writes_twice(projection: str, activation: str) -> None:
    """A saved configuration says its activation in two more keys, which agree."""
    gated = projection.startswith("gated")
    keys = {"dense_act_fn": activation, "is_gated_act": gated, "feed_forward_proj": projection}
    assert T5Config.model_validate(T5 | keys).gated is gated


@pytest.mark.parametrize(
    ("key", "value", "shown"),
    [
        ("feed_forward_proj", "gated-mish", "feed_forward_proj: .*'gated-mish'; known are: relu"),
        ("relative_attention_num_buckets", 3, "relative_attention_num_buckets: "),
        ("relative_attention_max_distance", 2, "relative_attention_max_distance 2 leaves no"),
        ("relative_attention_max_distance", 10**12, "relative_attention_max_distance: "),
        ("d_kv", 0, "d_kv: "),
        ("is_decoder", True, "is_decoder: "),
        ("dense_act_fn", "gelu_new", "dense_act_fn: should agree with .*'relu', found 'gelu_n"),
        ("dense_act_fn", "mish", "dense_act_fn: .*'mish'"),
        ("is_gated_act", True, "is_gated_act: should agree with .*'relu', found true"),
    ],
)
def test_refuses_what_it_does_not_compute(
    key: str, value: object, shown: str, tmp_path: Path
) -> None:
    """A configuration outside the formula is an error that names T5's own key."""
    folder = write_bert(tmp_path / "model", T5 | {key: value}, weights_of(gated=False))
    with pytest.raises(InputError, match=shown):
        open_source(folder)
