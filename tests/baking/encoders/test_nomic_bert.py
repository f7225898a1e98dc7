"""NomicBERT against an independent forward pass in NumPy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
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
    heads_of,
    layer_norm,
    linear,
    mixed,
    near,
    silu,
    turned,
    weights_of,
)
from polybake.baking.sources import open_source
from polybake.errors import InputError

NOMIC: dict[str, Any] = SIZES | {
    "model_type": "nomic_bert",
    "rope_parameters": {"rope_type": "default", "rope_theta": 50.0},
}
#: The same by the keys of the code that is published beside the weights.
PUBLISHED: dict[str, Any] = {
    "model_type": "nomic_bert",
    "vocab_size": SIZES["vocab_size"],
    "n_embd": HIDDEN,
    "n_layer": LAYERS,
    "n_head": HEADS,
    "n_inner": WIDE,
    "layer_norm_epsilon": 1e-12,
    "activation_function": "swiglu",
    "rotary_emb_base": 50,
    "rotary_emb_fraction": 1.0,
    "rotary_emb_interleaved": False,
    "rotary_scaling_factor": None,
    "prenorm": False,
}


def weights() -> dict[str, Floats]:
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (SIZES["vocab_size"], HIDDEN),
        "embeddings.token_type_embeddings.weight": (2, HIDDEN),
        "emb_ln.weight": (HIDDEN,),
        "emb_ln.bias": (HIDDEN,),
    }
    for number in range(LAYERS):
        layer = f"encoder.layers.{number}"
        shapes |= {
            f"{layer}.attn.Wqkv.weight": (3 * HIDDEN, HIDDEN),
            f"{layer}.attn.out_proj.weight": (HIDDEN, HIDDEN),
            f"{layer}.mlp.fc11.weight": (WIDE, HIDDEN),
            f"{layer}.mlp.fc12.weight": (WIDE, HIDDEN),
            f"{layer}.mlp.fc2.weight": (HIDDEN, WIDE),
        }
        shapes |= {
            f"{layer}.{norm}.{part}": (HIDDEN,)
            for norm in ("norm1", "norm2")
            for part in ("weight", "bias")
        }
    return weights_of(shapes)


def forward(w: Weights, ids: NDArray[np.int64]) -> Floats:
    """The reference forward pass, with all tokens of the second type."""
    words = w["embeddings.word_embeddings.weight"][ids]
    x = layer_norm(words + w["embeddings.token_type_embeddings.weight"][0], w, "emb_ln")
    for number in range(LAYERS):
        layer = f"encoder.layers.{number}"
        query, key, value = (
            heads_of(part, HIDDEN // HEADS)
            for part in np.split(linear(x, w, f"{layer}.attn.Wqkv"), 3, axis=-1)
        )
        attended = mixed(turned(query, 50.0), turned(key, 50.0), value, near(len(ids)))
        x = layer_norm(x + linear(attended, w, f"{layer}.attn.out_proj"), w, f"{layer}.norm1")
        wide = linear(x, w, f"{layer}.mlp.fc11") * silu(linear(x, w, f"{layer}.mlp.fc12"))
        x = layer_norm(x + linear(wide, w, f"{layer}.mlp.fc2"), w, f"{layer}.norm2")
    return x


@pytest.mark.parametrize("config", [NOMIC, PUBLISHED], ids=["transformers", "published"])
def test_matches_numpy(config: dict[str, Any], tmp_path: Path) -> None:
    """Every kept token's embedding equals the formula's, padded on either side."""
    assert_matches(config, weights(), forward, tmp_path)


def test_theta_is_1000_where_none_is_given() -> None:
    """The default is transformers', and not that of the other encoders."""
    from polybake.baking.encoders.nomic_bert import NomicBertConfig

    assert NomicBertConfig.model_validate(SIZES).theta == 1_000.0


@pytest.mark.parametrize(
    ("key", "value", "shown"),
    [
        ("activation_function", "gelu", "activation_function: "),
        ("prenorm", True, "prenorm: "),
        ("parallel_block", True, "parallel_block: "),
        ("causal", True, "causal: "),
        ("use_rms_norm", True, "use_rms_norm: "),
        ("rotary_emb_fraction", 0.5, "rotary_emb_fraction: "),
        ("rotary_emb_interleaved", True, "rotary_emb_interleaved: "),
        ("rotary_emb_scale_base", 512, "rotary_emb_scale_base: "),
        ("rotary_scaling_factor", 2.0, "rotary_scaling_factor: "),
        ("num_experts", 8, "num_experts: "),
        ("n_head", 5, "no multiple of num_attention_heads 5"),
    ],
)
def test_refuses_what_it_does_not_compute(
    key: str, value: object, shown: str, tmp_path: Path
) -> None:
    """A configuration outside the formula is an error that names the key."""
    folder = write_bert(tmp_path / "model", PUBLISHED | {key: value}, weights())
    with pytest.raises(InputError, match=shown):
        open_source(folder)
