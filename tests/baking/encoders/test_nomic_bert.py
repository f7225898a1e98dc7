"""NomicBERT against an independent forward pass in NumPy."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray

from models.folders.drawn import STEPS
from models.folders.tiny_folders import write_bert
from models.formulas import nomic_moe_numpy
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
from polybake.baking.assemble.lower import Lowering
from polybake.baking.bake import bake
from polybake.baking.recipe.resolve import resolve
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
        ("activation_function", "geglu", "activation_function: "),
        ("prenorm", True, "prenorm: "),
        ("parallel_block", True, "parallel_block: "),
        ("causal", True, "causal: "),
        ("use_rms_norm", True, "use_rms_norm: "),
        ("rotary_emb_fraction", 0.5, "rotary_emb_fraction: "),
        ("rotary_emb_interleaved", True, "rotary_emb_interleaved: "),
        ("rotary_emb_scale_base", 512, "rotary_emb_scale_base: "),
        ("rotary_scaling_factor", 2.0, "rotary_scaling_factor: "),
        ("num_experts", 1, "num_experts: "),
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


def test_experts_match_numpy(tmp_path: Path) -> None:
    """Layers with experts, plain blocks and biases: every token takes its own two experts."""
    assert_matches(
        nomic_moe_numpy.CONFIG, nomic_moe_numpy.weights(), nomic_moe_numpy.forward, tmp_path
    )


@pytest.mark.slow
@pytest.mark.parametrize("precision", ["int8", "int4", "float16"])
def test_experts_are_products_as_others(
    precision: Literal["int8", "int4", "float16"], tmp_path: Path
) -> None:
    """Their weights take another type, and rows that few tokens reach are bounded as all are."""
    sizes = {"n_embd": 128, "n_inner": 192, "num_experts": 2, "moe_top_k": 1}
    folder = write_bert(tmp_path / "model", nomic_moe_numpy.CONFIG | sizes, larger(sizes))
    source = open_source(folder)
    steps = resolve(STEPS, base=tmp_path, source=source)
    out = tmp_path / "tiny.onnx"
    report = bake(source, steps, out, name="tiny", lowering=Lowering(precision=precision))
    assert report.manifest.deviation is not None
    assert report.manifest.deviation.mean_cosine > 0.98
    large = [one for one in onnx.load(out).graph.initializer if np.prod(one.dims) >= 1 << 13]
    experts = [one.data_type for one in large if ".experts.mlp." in one.name]
    assert len(experts) == 2 * 2 * 2
    assert onnx.TensorProto.FLOAT not in experts


def larger(sizes: dict[str, int]) -> dict[str, Floats]:
    """A checkpoint whose products are worth another type; their spread keeps the size."""
    change = {HIDDEN: sizes["n_embd"], WIDE: sizes["n_inner"], 3 * HIDDEN: 3 * sizes["n_embd"]}
    change[nomic_moe_numpy.EXPERTS] = sizes["num_experts"]
    change[nomic_moe_numpy.EXPERTS * WIDE] = sizes["num_experts"] * sizes["n_inner"]
    shapes = {
        name: tuple(change.get(size, size) for size in array.shape)
        for name, array in nomic_moe_numpy.weights().items()
    }
    return {
        name: array * np.float32(0.4 if array.ndim == 2 else 1)
        for name, array in weights_of(shapes).items()
    }


@pytest.mark.parametrize(
    ("key", "value", "shown"),
    [
        ("moe_top_k", 6, "moe_top_k 6 is more than num_experts 5"),
        ("num_experts", None, "moe_top_k 2 is more than num_experts null"),
        ("num_experts", 4, r"unexpected encoder.layers.1.mlp.experts.mlp.w1"),
        ("activation_function", "swiglu", "activation_function 'swiglu' of experts"),
        ("moe_normalize_expert_weights", True, "moe_normalize_expert_weights: "),
        ("expert_choice_router", True, "expert_choice_router: "),
        ("num_shared_experts", 1, "num_shared_experts: "),
        ("ffn_div", 2, "ffn_div: "),
    ],
)
def test_refuses_other_experts(key: str, value: object, shown: str, tmp_path: Path) -> None:
    """What another mixture would be is an error that names the key, or the tensor."""
    config = nomic_moe_numpy.CONFIG | {key: value}
    folder = write_bert(tmp_path / "model", config, nomic_moe_numpy.weights())
    with pytest.raises(InputError, match=shown):
        open_source(folder).encoder.place()
