"""ModernBERT against an independent forward pass in NumPy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray

from models.folders.tiny_folders import write_bert
from models.formulas.rotary_numpy import (
    HEADS,
    HIDDEN,
    LAYERS,
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
from polybake.baking.sources import open_source
from polybake.errors import InputError

MODERNBERT: dict[str, Any] = SIZES | {
    "model_type": "modernbert",
    "local_attention": 5,
    "rope_parameters": {
        "full_attention": {"rope_type": "default", "rope_theta": 300.0},
        "sliding_attention": {"rope_type": "default", "rope_theta": 20.0},
    },
    "layer_types": ["full_attention", "sliding_attention", "full_attention"],
}
#: The same as transformers 4 wrote it.
OLDER: dict[str, Any] = MODERNBERT | {
    "rope_parameters": None,
    "layer_types": None,
    "global_attn_every_n_layers": 2,
    "global_rope_theta": 300.0,
    "local_rope_theta": 20.0,
}
#: Half of a window, which replaces the whole one.
HALF: dict[str, Any] = MODERNBERT | {"local_attention": 9, "sliding_window": 2}
BIASED = {"norm_bias": True, "attention_bias": True, "mlp_bias": True}


def weights(biased: bool = False) -> dict[str, Floats]:
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.tok_embeddings.weight": (SIZES["vocab_size"], HIDDEN),
        "embeddings.norm.weight": (HIDDEN,),
        "final_norm.weight": (HIDDEN,),
    }
    for number in range(LAYERS):
        layer = f"layers.{number}"
        if number > 0:
            shapes[f"{layer}.attn_norm.weight"] = (HIDDEN,)
        shapes[f"{layer}.attn.Wqkv.weight"] = (3 * HIDDEN, HIDDEN)
        shapes[f"{layer}.attn.Wo.weight"] = (HIDDEN, HIDDEN)
        shapes[f"{layer}.mlp_norm.weight"] = (HIDDEN,)
        shapes[f"{layer}.mlp.Wi.weight"] = (2 * WIDE, HIDDEN)
        shapes[f"{layer}.mlp.Wo.weight"] = (HIDDEN, WIDE)
    if biased:
        shapes |= {
            name.replace("weight", "bias"): shape[:1]
            for name, shape in shapes.items()
            if "tok_embeddings" not in name
        }
    return weights_of(shapes)


def forward(w: Weights, ids: NDArray[np.int64]) -> Floats:
    x = layer_norm(w["embeddings.tok_embeddings.weight"][ids], w, "embeddings.norm", 1e-5)
    for number in range(LAYERS):
        layer, full = f"layers.{number}", number != 1
        normed = x if number == 0 else layer_norm(x, w, f"{layer}.attn_norm", 1e-5)
        query, key, value = (
            heads_of(part, HIDDEN // HEADS)
            for part in np.split(linear(normed, w, f"{layer}.attn.Wqkv"), 3, axis=-1)
        )
        theta = 300.0 if full else 20.0
        allowed = near(len(ids)) if full else near(len(ids), before=2, after=2)
        attended = mixed(turned(query, theta), turned(key, theta), value, allowed)
        x = x + linear(attended, w, f"{layer}.attn.Wo")
        wide = linear(layer_norm(x, w, f"{layer}.mlp_norm", 1e-5), w, f"{layer}.mlp.Wi")
        x = x + linear(gelu(wide[:, :WIDE]) * wide[:, WIDE:], w, f"{layer}.mlp.Wo")
    return layer_norm(x, w, "final_norm", 1e-5)


@pytest.mark.parametrize(
    "config",
    [MODERNBERT, OLDER, HALF],
    ids=["transformers 5", "transformers 4", "half a window"],
)
@pytest.mark.parametrize("biased", [False, True])
def test_matches_numpy(config: dict[str, Any], biased: bool, tmp_path: Path) -> None:
    """Every kept token's embedding equals the formula's, padded on either side."""
    config = config | (BIASED if biased else {})
    assert_matches(config, weights(biased), forward, tmp_path)


def test_every_third_layer_is_global_where_nothing_is_said() -> None:
    """The defaults are those of transformers: types, thetas and half of a window of 128."""
    from polybake.baking.encoders.modernbert import ModernBertConfig

    config = ModernBertConfig.model_validate(SIZES | {"num_hidden_layers": 5})
    assert [kind == "full_attention" for kind in config.types()] == [1, 0, 0, 1, 0]
    assert config.thetas() == {"full_attention": 160_000.0, "sliding_attention": 10_000.0}
    assert config.attention_windows()["sliding_attention"] == (64, 64)


def test_normalisation_is_always_given_a_shift(tmp_path: Path) -> None:
    """ONNX Runtime crashes on a LayerNormalization with two inputs before an addition."""
    folder = write_bert(tmp_path / "model", MODERNBERT, weights())
    graph = onnx.load(open_source(folder).encoder.reference(tmp_path).path).graph
    norms = [node for node in graph.node if node.op_type == "LayerNormalization"]
    assert [len(node.input) for node in norms] == [3] * (2 * LAYERS + 1)


def test_takes_the_body_of_a_masked_language_model(tmp_path: Path) -> None:
    """Names that begin with model., and heads beside them, are understood."""
    named = {f"model.{name}": array for name, array in weights().items()}
    heads = dict.fromkeys(("head.dense.weight", "decoder.bias", "classifier.bias"), np.ones(2))
    named |= {name: array.astype(np.float32) for name, array in heads.items()}
    open_source(write_bert(tmp_path / "model", MODERNBERT, named)).encoder.place()


@pytest.mark.parametrize(
    ("key", "value", "shown"),
    [
        ("hidden_activation", "mish", "hidden_activation: .*'mish'"),
        ("local_attention", 0, "local_attention: "),
        ("sliding_window", 0, "sliding_window: "),
        ("head_dim", 12, "head_dim 12 is not supported, only 6, "),
        ("global_attn_every_n_layers", 0, "global_attn_every_n_layers: "),
        ("rope_scaling", {"rope_type": "yarn", "factor": 4.0}, "rope_scaling: "),
        ("local_rope_theta", None, "local_rope_theta: "),
        ("layer_types", ["full_attention"], "layer_types has 1 entries"),
        ("num_attention_heads", 5, "no multiple of num_attention_heads 5"),
    ],
)
def test_refuses_what_it_does_not_compute(
    key: str, value: object, shown: str, tmp_path: Path
) -> None:
    """A configuration outside the formula is an error that names the key."""
    folder = write_bert(tmp_path / "model", MODERNBERT | {key: value}, weights())
    with pytest.raises(InputError, match=shown):
        open_source(folder)
