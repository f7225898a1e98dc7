"""GTE against an independent forward pass in NumPy."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from models.folders.tiny_folders import write_bert
from models.formulas.rotary_numpy import (
    HEADS,
    HIDDEN,
    IDS,
    LAYERS,
    MASK,
    SIZES,
    WIDE,
    Floats,
    Weights,
    assert_matches,
    gelu,
    heads_of,
    layer_norm,
    linear,
    mixed,
    near,
    turned,
    weights_of,
)
from models.parts.tiny_encoders import token_embeddings
from polybake.baking.sources import open_source
from polybake.errors import InputError
from polybake.runtime.session import open_session

GTE: dict[str, Any] = SIZES | {
    "model_type": "gte",
    "rope_parameters": {"rope_type": "default", "rope_theta": 50.0},
}
#: The configuration of checkpoints that bring their own code.
NEW: dict[str, Any] = SIZES | {
    "model_type": "new",
    "layer_norm_type": "layer_norm",
    "logn_attention_scale": False,
    "pack_qkv": True,
    "position_embedding_type": "rope",
    "rope_theta": 50.0,
    "rope_scaling": {"type": "ntk", "factor": 8.0},
}


def weights(types: int = 1) -> dict[str, Floats]:
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (SIZES["vocab_size"], HIDDEN),
        "embeddings.LayerNorm.weight": (HIDDEN,),
        "embeddings.LayerNorm.bias": (HIDDEN,),
    }
    if types:
        shapes["embeddings.token_type_embeddings.weight"] = (types, HIDDEN)
    for number in range(LAYERS):
        layer = f"encoder.layer.{number}"
        shapes |= {
            f"{layer}.attention.qkv_proj.weight": (3 * HIDDEN, HIDDEN),
            f"{layer}.attention.qkv_proj.bias": (3 * HIDDEN,),
            f"{layer}.attention.o_proj.weight": (HIDDEN, HIDDEN),
            f"{layer}.attention.o_proj.bias": (HIDDEN,),
            f"{layer}.mlp.up_gate_proj.weight": (2 * WIDE, HIDDEN),
            f"{layer}.mlp.down_proj.weight": (HIDDEN, WIDE),
            f"{layer}.mlp.down_proj.bias": (HIDDEN,),
        }
        shapes |= {
            f"{layer}.{norm}_ln.{part}": (HIDDEN,)
            for norm in ("attn", "mlp")
            for part in ("weight", "bias")
        }
    return weights_of(shapes)


def forward(w: Weights, ids: NDArray[np.int64], ntk: float = 1.0, kinds: Any = 0) -> Floats:
    x = w["embeddings.word_embeddings.weight"][ids]
    x = x + w.get("embeddings.token_type_embeddings.weight", np.zeros((1, 1)))[kinds]
    x = layer_norm(x, w, "embeddings.LayerNorm")
    for number in range(LAYERS):
        layer = f"encoder.layer.{number}"
        query, key, value = (
            heads_of(part, HIDDEN // HEADS)
            for part in np.split(linear(x, w, f"{layer}.attention.qkv_proj"), 3, axis=-1)
        )
        query, key = turned(query, 50.0, ntk), turned(key, 50.0, ntk)
        attended = mixed(query, key, value, near(len(ids)))
        x = layer_norm(x + linear(attended, w, f"{layer}.attention.o_proj"), w, f"{layer}.attn_ln")
        wide = linear(x, w, f"{layer}.mlp.up_gate_proj")
        down = linear(wide[:, :WIDE] * gelu(wide[:, WIDE:]), w, f"{layer}.mlp.down_proj")
        x = layer_norm(x + down, w, f"{layer}.mlp_ln")
    return x


@pytest.mark.parametrize("types", [0, 1, 2])
def test_matches_numpy(types: int, tmp_path: Path) -> None:
    """Every kept token's embedding equals the formula's, with and without token types."""
    assert_matches(GTE | {"type_vocab_size": types}, weights(types), forward, tmp_path)


def test_a_pair_has_types(tmp_path: Path) -> None:
    """The second text of a pair is of type 1 where the table has two."""
    drawn = weights(2)
    folder = write_bert(tmp_path / "model", GTE | {"type_vocab_size": 2}, drawn)
    encoder = open_source(folder).encoder.for_pairs(lambda: True).reference(tmp_path)
    fed = {"input_ids": IDS[:1], "attention_mask": MASK[:1]}
    kinds = np.array([[0] * 4 + [1] * 4])
    session = open_session(encoder.path)
    (found,) = session.run([encoder.output], fed | {"token_type_ids": kinds})[0]
    exact = {name: array.astype(np.float64) for name, array in drawn.items()}
    expected = forward(exact, IDS[0], kinds=kinds[0])
    np.testing.assert_allclose(found, expected, atol=2e-6 * np.abs(expected).max())


@pytest.mark.parametrize("prefix", ["gte.", "new."])
def test_a_head_brings_either_prefix(prefix: str, tmp_path: Path) -> None:
    """Those of transformers begin with ``gte.``, the first ones with ``new.``."""
    named = {f"{prefix}{name}": array for name, array in weights().items()}
    bare = write_bert(tmp_path / "bare", GTE, weights())
    prefixed = write_bert(tmp_path / "prefixed", GTE, named)
    inputs = {"input_ids": IDS, "attention_mask": MASK}
    np.testing.assert_array_equal(
        token_embeddings(prefixed, tmp_path, **inputs), token_embeddings(bare, tmp_path, **inputs)
    )


def test_first_checkpoints_scale_positions(tmp_path: Path) -> None:
    """``new`` has NTK scaling, and names its weights with or without ``new.`` before them."""
    named = {f"new.{name}": array for name, array in weights().items()}
    config = NEW | {"rope_scaling": None}
    assert_matches(NEW, weights(), partial(forward, ntk=8.0), tmp_path / "scaled")
    assert_matches(config, weights(), forward, tmp_path / "plain")
    prefixed = write_bert(tmp_path / "model", NEW, named)
    bare = tmp_path / "scaled" / "model"
    inputs = {"input_ids": IDS, "attention_mask": MASK}
    np.testing.assert_array_equal(
        token_embeddings(prefixed, tmp_path, **inputs), token_embeddings(bare, tmp_path, **inputs)
    )


@pytest.mark.parametrize(
    ("config", "key", "value", "shown"),
    [
        (GTE, "type_vocab_size", -1, "type_vocab_size: "),
        (GTE, "rope_scaling", {"type": "ntk", "factor": 8.0}, "rope_scaling.*type: "),
        (GTE, "hidden_act", "mish", "hidden_act: .*'mish'"),
        (NEW, "rope_scaling", {"type": "linear", "factor": 8.0}, "rope_scaling.type: .*'linear'"),
        (NEW, "rope_scaling", {"type": "ntk", "factor": 0.5}, "rope_scaling.factor: .*0.5"),
        (
            NEW,
            "rope_scaling",
            {"type": "ntk", "factor": 8.0, "mixed_b": 0.6},
            "rope_scaling.mixed_b: .*0.6",
        ),
        (NEW, "rope_parameters", {"rope_theta": 7.0}, "rope_parameters: "),
        (NEW, "layer_norm_type", "rms_norm", "layer_norm_type: .*'rms_norm'"),
        (NEW, "position_embedding_type", "absolute", "position_embedding_type: .*'absolute'"),
        (NEW, "pack_qkv", False, "pack_qkv: "),
        (NEW, "logn_attention_scale", True, "logn_attention_scale: "),
    ],
)
def test_refuses_what_it_does_not_compute(
    config: dict[str, Any], key: str, value: object, shown: str, tmp_path: Path
) -> None:
    """A configuration outside the formula is an error that names the key."""
    folder = write_bert(tmp_path / "model", config | {key: value}, weights())
    with pytest.raises(InputError, match=shown):
        open_source(folder)
