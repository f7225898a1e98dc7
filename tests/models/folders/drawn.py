"""Model folders of any architecture that polybake builds, with drawn weights."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnxscript import GraphBuilder, ir

from models.bake import bake
from models.folders.bert import DEBERTA_V3
from models.folders.tiny_folders import CONFIG, write_bert
from polybake.baking.bake import BakeReport
from polybake.baking.encoders import ENCODERS
from polybake.baking.encoders.encoder_config import EncoderConfig
from polybake.baking.layers.network import new_model
from polybake.baking.layers.weights import parameters
from polybake.baking.recipe.resolve import resolve
from polybake.baking.sources import open_source

#: The bake of a kind in a precision, as a fixture gives it.
InPrecision = Callable[[str, str], BakeReport]

STEPS = [{"step": "pool", "mode": "mean"}, {"step": "normalize"}]

#: Large enough that products are worth another type.
SIZES: dict[str, Any] = {
    "vocab_size": CONFIG["vocab_size"],
    "hidden_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 256,
    "max_position_embeddings": 130,
}

ROTATION = {"rope_type": "default", "rope_theta": 300.0}
TURNED = SIZES | {"rope_parameters": ROTATION}
GROUPED = TURNED | {"num_key_value_heads": 2}
BY_LAYER = {"full_attention": ROTATION, "sliding_attention": ROTATION}
LAYERS = ["full_attention", "sliding_attention"]
ALIBI = CONFIG | SIZES | {"position_embedding_type": "alibi", "feed_forward_type": "geglu"}

DRAWN: dict[str, dict[str, Any]] = {
    "albert": CONFIG
    | SIZES
    | {"embedding_size": 160, "num_hidden_groups": 1, "inner_group_num": 1},
    "bart": {
        "vocab_size": CONFIG["vocab_size"],
        "d_model": 128,
        "encoder_layers": 2,
        "decoder_layers": 2,
        "encoder_attention_heads": 4,
        "decoder_attention_heads": 4,
        "encoder_ffn_dim": 256,
        "decoder_ffn_dim": 256,
        "max_position_embeddings": 130,
    },
    "bert": CONFIG | SIZES,
    "deberta": CONFIG
    | SIZES
    | {
        "relative_attention": True,
        "position_biased_input": False,
        "type_vocab_size": 0,
        "pos_att_type": "c2p|p2c",
    },
    "deberta-v2": CONFIG | SIZES | DEBERTA_V3,
    "distilbert": {
        "vocab_size": CONFIG["vocab_size"],
        "dim": 128,
        "n_layers": 2,
        "n_heads": 4,
        "hidden_dim": 256,
        "max_position_embeddings": 130,
    },
    "electra": CONFIG | SIZES | {"embedding_size": 160},
    "eurobert": TURNED,
    "gemma": GROUPED | {"head_dim": 64},
    "gemma3_text": SIZES
    | {
        "num_key_value_heads": 2,
        "head_dim": 64,
        "sliding_window": 9,
        "query_pre_attn_scalar": 64,
        "rope_parameters": BY_LAYER,
        "layer_types": LAYERS,
    },
    "gpt2": {
        "vocab_size": CONFIG["vocab_size"],
        "n_embd": 128,
        "n_layer": 2,
        "n_head": 4,
        "n_inner": 256,
        "n_positions": 130,
    },
    "gte": TURNED | {"type_vocab_size": 2},
    "jina_bert": ALIBI,
    "jina_bert_qk": ALIBI,
    "jina_embeddings_v3": TURNED,
    "llama": GROUPED | {"head_dim": 64},
    "mistral": GROUPED | {"head_dim": 64, "sliding_window": None},
    "modernbert": SIZES
    | {"local_attention": 9, "rope_parameters": BY_LAYER, "layer_types": LAYERS},
    "mpnet": CONFIG | SIZES,
    "neobert": SIZES,
    "nomic_bert": TURNED | {"type_vocab_size": 2},
    "qwen2": TURNED | {"num_key_value_heads": 4},
    "qwen3": GROUPED | {"head_dim": 64},
    "roberta": CONFIG | SIZES,
    "t5": {
        "vocab_size": CONFIG["vocab_size"],
        "d_model": 128,
        "d_kv": 32,
        "d_ff": 256,
        "num_layers": 2,
        "num_heads": 4,
        "relative_attention_num_buckets": 8,
        "relative_attention_max_distance": 5,
    },
}

#: The products of each that become integers: those of two layers, and a projection of embeddings
#: where there is one. DeBERTa has fewer, as weights that positions share in part with tokens stay
#: float32. BART's decoder has ten a layer.
PRODUCTS = dict.fromkeys(DRAWN, 12)
PRODUCTS |= dict.fromkeys(("gpt2", "gte", "jina_embeddings_v3", "modernbert", "neobert"), 8)
PRODUCTS |= dict.fromkeys(("eurobert", "gemma", "gemma3_text", "llama", "mistral"), 14)
PRODUCTS |= {"qwen2": 14, "qwen3": 14, "nomic_bert": 10, "albert": 13, "electra": 13}
PRODUCTS |= {"deberta": 16, "deberta-v2": 6, "bart": 32}


def drawn_weights(
    kind: str, config: Mapping[str, Any] | None = None
) -> dict[str, NDArray[np.float32]]:
    """Weights whose spread keeps the size of what they multiply; those of norms are around 1."""
    random = np.random.default_rng(4)
    architecture = ENCODERS[kind]
    options = architecture.read(EncoderConfig(config or DRAWN[kind]))
    network = architecture.network(options, architecture.names)
    graph, shape = GraphBuilder(new_model().graph), ["batch", "sequence"]
    network(graph.op, *(graph.input(name, ir.DataType.INT64, shape) for name in ("ids", "mask")))
    weights = {}
    for name, parameter, linear in parameters(network):
        sizes = tuple(int(size) for size in parameter.shape or ())
        spread = sizes[0] ** -0.5 if linear else 0.2
        drawn = random.normal(0, spread, sizes[::-1] if linear else sizes)
        weights[name] = (drawn + ("norm" in name.lower())).astype(np.float32)
    return weights


def write_drawn(
    folder: Path, kind: str, changes: Mapping[str, NDArray[np.float32]] | None = None
) -> Path:
    """Write such a model; ``changes`` are weights in the place of drawn ones."""
    weights = drawn_weights(kind) | dict(changes or {})
    return write_bert(folder, DRAWN[kind] | {"model_type": kind}, weights)


def bake_drawn(
    folder: Path,
    kind: str,
    changes: Mapping[str, NDArray[np.float32]] | None = None,
    **settings: Any,
) -> BakeReport:
    """Bake such a model, mean pooled and normalised."""
    source = open_source(write_drawn(folder / "model", kind, changes))
    steps = resolve(STEPS, base=folder, source=source)
    out = folder / "drawn.onnx"
    return bake(source, steps, out, name="tiny", **settings)
