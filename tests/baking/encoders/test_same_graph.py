"""Keys, and names of weights, that say the same give the same graph, to the byte."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from models.folders.clip import PICTURES
from models.folders.drawn import ALIBI, DRAWN, drawn_weights
from models.folders.rotary import LLAMA3
from models.folders.tiny_folders import Arrays, write_bert
from models.formulas.jina_bert_numpy import CONFIG as JINA
from polybake.baking.encoders import ENCODERS
from polybake.baking.sources import open_source

Config = dict[str, Any]

BERT = DRAWN["bert"].items()
TEXT = {key: value for key, value in BERT if key != "type_vocab_size"} | {"eos_token_id": 3}
WRONG = TEXT | {"num_attention_heads": 2, "eos_token_id": 2, "hidden_act": "gelu"}
SCALING = {key: value for key, value in LLAMA3.items() if key != "rope_theta"}
VOYAGE: Config = {
    "architectures": ["Qwen3BidirectionalModel"],
    "auto_map": {"AutoModel": "modeling_qwen3_bidirectional.Qwen3BidirectionalModel"},
    "num_labels": 7,
}
#: The sizes of nomic_bert by the keys of the code that is published beside its weights.
PUBLISHED: Config = {
    "vocab_size": DRAWN["nomic_bert"]["vocab_size"],
    "n_embd": 128,
    "n_layer": 2,
    "n_head": 4,
    "n_inner": 256,
    "layer_norm_epsilon": 1e-12,
    "activation_function": "swiglu",
    "rotary_emb_base": 300,
    "rotary_emb_fraction": 1.0,
    "rotary_emb_interleaved": False,
    "rotary_scaling_factor": None,
    "prenorm": False,
}
CODE = {key: JINA[key] for key in ("architectures", "auto_map", "position_embedding_type")}
CONFIGS = DRAWN | {
    "clip": {"text_config": TEXT, "vision_config": PICTURES},
    "jina_bert": ALIBI | CODE,
    "llama3": DRAWN["llama"] | {"rope_parameters": LLAMA3},
    "voyage": DRAWN["qwen3"] | VOYAGE,
}
#: Names above that are no architecture, by its ``model_type``.
TYPES = {"jina_bert": "bert", "llama3": "llama", "voyage": "qwen3"}


def weights_of(name: str) -> Arrays:
    return drawn_weights(name if name in ENCODERS else TYPES[name], CONFIGS[name])


def graph(folder: Path, name: str, config: Config, weights: Arrays | None = None) -> bytes:
    whole = config | {"model_type": TYPES.get(name, name)}
    made = write_bert(folder, whole, weights or weights_of(name))
    return open_source(made).encoder.reference(folder).path.read_bytes()


def without(name: str, key: str) -> Config:
    return {one: value for one, value in CONFIGS[name].items() if one != key}


@pytest.mark.parametrize(
    ("name", "other"),
    [
        (
            "clip",
            CONFIGS["clip"] | {"text_config": WRONG, "text_config_dict": TEXT},
        ),
        ("gemma", DRAWN["gemma"] | {"hidden_act": "gelu", "hidden_activation": None}),
        (
            "gemma",
            DRAWN["gemma"] | {"hidden_act": "gelu", "hidden_activation": "gelu_pytorch_tanh"},
        ),
        ("jina_bert", CONFIGS["jina_bert"] | {"hidden_act": "relu"}),
        (
            "llama3",
            CONFIGS["llama3"]
            | {"rope_parameters": None, "rope_theta": 50.0, "rope_scaling": SCALING},
        ),
        ("nomic_bert", PUBLISHED),
        ("qwen2", DRAWN["qwen2"] | {"sliding_window": 3, "max_window_layers": 1}),
        ("voyage", without("voyage", "architectures")),
        ("voyage", without("voyage", "auto_map")),
    ],
)
def test_keys_that_say_the_same(name: str, other: Config, tmp_path: Path) -> None:
    """An older name, a name of the model's own code, and what is not used."""
    plain = graph(tmp_path / "one", name, CONFIGS[name])
    assert graph(tmp_path / "other", name, other) == plain


def test_the_function_of_a_gate(tmp_path: Path) -> None:
    """JinaBERT's ``reglu`` is another one."""
    plain, other = (
        graph(tmp_path / kind, "jina_bert", CONFIGS["jina_bert"] | {"feed_forward_type": kind})
        for kind in ("geglu", "reglu")
    )
    assert b"Relu" in other
    assert b"Relu" not in plain


@pytest.mark.parametrize(
    ("name", "prefix", "further"),
    [
        ("bart", "model.", ["model.encoder.embed_tokens.weight", "final_logits_bias"]),
        ("clip", "", ["vision_model.post_layernorm.bias", "logit_scale"]),
        ("gpt2", "transformer.", ["transformer.h.0.attn.bias", "transformer.h.1.attn.masked_bias"]),
        ("gte", "gte.", []),
        ("gte", "new.", []),
        ("jina_bert", "bert.", ["bert.pooler.dense.weight"]),
        ("modernbert", "model.", ["head.dense.weight", "decoder.bias", "classifier.bias"]),
        ("qwen2", "model.", ["lm_head.weight"]),
        ("roberta", "roberta.", ["lm_head.bias"]),
        (
            "t5",
            "",
            ["encoder.embed_tokens.weight", "decoder.embed_tokens.weight", "lm_head.weight"],
        ),
    ],
)
def test_names_of_a_larger_model(
    name: str, prefix: str, further: list[str], tmp_path: Path
) -> None:
    """The names of the encoder in it begin so, and what stands beside it is understood."""
    bare = weights_of(name)
    named: Arrays = {f"{prefix}{key}": array for key, array in bare.items()}
    named |= dict.fromkeys(further, np.ones((2, 2), np.float32))
    if name in ("bart", "t5"):
        shared = named[f"{prefix}shared.weight"]
        named |= {key: shared for key in further if "embed_tokens" in key}
    plain = graph(tmp_path / "bare", name, CONFIGS[name], bare)
    assert graph(tmp_path / "named", name, CONFIGS[name], named) == plain
