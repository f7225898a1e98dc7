"""What every architecture's configuration computes, ignores and refuses."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import TypeAdapter

from models.folders.drawn import DRAWN, SIZES
from polybake.baking.encoders import ENCODERS
from polybake.baking.encoders.encoder_config import EncoderConfig, Epsilon, HiddenAct
from polybake.baking.encoders.options import Options
from polybake.errors import InputError

Config = dict[str, Any]

#: Those whose attention is causal unless the configuration says otherwise.
DECODERS = {
    *("bidirectional_pplx_qwen3", "clip", "clip_text_model", "gemma", "gemma3_text", "gpt2"),
    *("llama", "llama_bidirec", "mistral", "qwen2", "qwen3"),
}
#: Those whose attention in transformers does not read ``is_causal``.
ALWAYS_BOTH_WAYS = {"deberta", "deberta-v2", "mpnet"}
#: Those that transformers makes decoders of, and refuses where ``is_decoder`` is false.
CROSSED = {
    *("bert", "camembert", "electra", "gpt2", "jina_bert", "jina_bert_qk", "roberta"),
    "xlm-roberta",
}

BERT: Config = SIZES | {"type_vocab_size": 2, "pad_token_id": 1}
ALIBI = BERT | {"position_embedding_type": "alibi", "feed_forward_type": "geglu"}
GROUPED = SIZES | {"num_key_value_heads": 2}
#: The keys that must be there, of those that `DRAWN` has not.
NEEDED: dict[str, Config] = {
    **dict.fromkeys(("camembert", "xlm-roberta"), BERT),
    **dict.fromkeys(("bidirectional_pplx_qwen3", "llama_bidirec"), GROUPED),
    "clip": {},
    "clip_text_model": {},
    **dict.fromkeys(("jina_bert", "jina_bert_qk"), ALIBI),
    "new": SIZES,
    "xlm_roberta_flash": SIZES | {"position_embedding_type": "rotary"},
}


def config(name: str, **changes: object) -> Config:
    return (NEEDED | DRAWN | {"jina_bert": ALIBI, "jina_bert_qk": ALIBI})[name] | changes


def read(name: str, **changes: object) -> Options:
    return ENCODERS[name].read(EncoderConfig(config(name, **changes)))


def refused(name: str, **changes: object) -> bool:
    """Whether a key's value is refused, by the key."""
    (key,) = changes
    try:
        read(name, **changes)
    except InputError as error:
        return f" {key}: " in str(error)
    return False


@pytest.mark.parametrize("name", ENCODERS)
def test_causal_attention_is_computed_ignored_or_refused(name: str) -> None:
    """What transformers lets ``is_causal`` change is either computed or refused by that key."""
    named = name in ("bidirectional_pplx_qwen3", "llama_bidirec")
    if not named:  # they contradict their name
        assert refused(name, is_causal=True) == (name not in DECODERS | ALWAYS_BOTH_WAYS)


@pytest.mark.parametrize("name", sorted(set(ENCODERS) - DECODERS))
@pytest.mark.parametrize("value", [False, None])
def test_attention_to_both_sides_may_be_said(name: str, value: bool | None) -> None:
    """An encoder whose configuration says that it is not causal is as if it said nothing."""
    assert read(name, is_causal=value) == read(name)


@pytest.mark.parametrize("name", ENCODERS)
def test_cross_attention_is_refused_where_it_would_be_built(name: str) -> None:
    """An encoder that has none in transformers ignores the key."""
    assert refused(name, add_cross_attention=True) == (name in CROSSED)


@pytest.mark.parametrize("name", ENCODERS)
def test_quantized_weights_are_refused_by_their_key(name: str) -> None:
    """A quantization_config is refused by name, before any tensor is looked at."""
    assert refused(name, quantization_config={"quant_method": "fp8"})


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -1e-5, "1e-5", True, None])
@pytest.mark.parametrize("name", sorted(set(ENCODERS) - {"bart", "distilbert"}))
def test_epsilon_is_a_number(name: str, value: object) -> None:
    """The epsilon of a normalisation is finite and not negative; two have no key."""
    keys = ("layer_norm_eps", "layer_norm_epsilon", "norm_eps", "rms_norm_eps")
    assert any(refused(name, **{key: value}) for key in keys)


@pytest.mark.parametrize("value", [0, 0.0, 1e-5])
def test_epsilon_may_be_zero(value: float) -> None:
    """An epsilon of 0 is safe, because no variance of real vectors is zero."""
    assert TypeAdapter(Epsilon).validate_python(value) == value


#: transformers' names of activations by ours.
ACTIVATIONS = {
    "gelu": ("gelu", "gelu_python"),
    "gelu_tanh": ("gelu_new", "gelu_pytorch_tanh", "gelu_fast"),
    "quick_gelu": ("quick_gelu",),
    "relu": ("relu",),
    "silu": ("silu", "swish"),
    "tanh": ("tanh",),
}


@pytest.mark.parametrize(
    ("name", "expected"), [(name, ours) for ours, names in ACTIVATIONS.items() for name in names]
)
def test_an_activation_has_several_names(name: str, expected: str) -> None:
    """Each of transformers' is the function of its class."""
    assert TypeAdapter(HiddenAct).validate_python(name) == expected


BERT_LIKE: Config = {"layer_norm_eps": 1e-12, "hidden_act": "gelu", "type_vocab_size": 2}
DECODER: Config = {"rms_norm_eps": 1e-6, "hidden_act": "silu", "rope_theta": 10000.0}
CLIP: Config = {
    "layer_norm_eps": 1e-5,
    "hidden_act": "quick_gelu",
    "eos_token_id": 49407,
    "vocab_size": 49408,
    "hidden_size": 512,
    "intermediate_size": 2048,
    "projection_dim": 512,
    "num_hidden_layers": 12,
    "num_attention_heads": 8,
    "max_position_embeddings": 77,
}
JINA: Config = {"layer_norm_eps": 1e-12, "type_vocab_size": 2, "emb_pooler": None}
JINA_V3: Config = {"layer_norm_eps": 1e-5, "hidden_act": "gelu", "type_vocab_size": 1}
WINDOWS: Config = {"use_sliding_window": False, "sliding_window": 4096, "max_window_layers": 28}
GPT2: Config = {"layer_norm_epsilon": 1e-5, "activation_function": "gelu_new", "n_inner": None}
DEBERTA: Config = {"layer_norm_eps": 1e-7, "max_relative_positions": -1, "type_vocab_size": 0}
#: Source: the configuration classes of transformers 5.23; ``new``, JinaBERT and
#: ``xlm_roberta_flash`` bring their own.
DEFAULTS: dict[str, Config] = {
    "albert": {"layer_norm_eps": 1e-12, "hidden_act": "gelu_new", "embedding_size": 128},
    "bart": {"activation_function": "gelu", "scale_embedding": False, "decoder_start_token_id": 2},
    "bert": BERT_LIKE,
    "bidirectional_pplx_qwen3": DECODER | {"head_dim": 128},
    "camembert": BERT_LIKE | {"pad_token_id": 1},
    "clip": CLIP,
    "clip_text_model": CLIP,
    "deberta": DEBERTA,
    "deberta-v2": DEBERTA,
    "distilbert": {"activation": "gelu"},
    "electra": BERT_LIKE | {"embedding_size": 128},
    "eurobert": {"rms_norm_eps": 1e-5, "hidden_act": "silu", "attention_bias": False},
    "gemma": DECODER | {"head_dim": 256, "hidden_act": "gelu_pytorch_tanh"},
    "gemma3_text": {"head_dim": 256, "query_pre_attn_scalar": 256, "sliding_window": 4096},
    "gpt2": GPT2 | {"n_positions": 1024, "n_embd": 768, "n_head": 12, "n_layer": 12},
    "gte": {"layer_norm_eps": 1e-12, "hidden_act": "gelu", "type_vocab_size": 1},
    "jina_bert": JINA,
    "jina_bert_qk": JINA | {"feed_forward_type": "geglu"},
    "jina_embeddings_v3": JINA_V3 | {"rope_theta": 20000.0},
    "llama": DECODER | {"attention_bias": False, "rope_theta": 10000.0},
    "llama_bidirec": DECODER | {"attention_bias": False},
    "mistral": DECODER | {"sliding_window": 4096},
    "modernbert": {"norm_eps": 1e-5, "local_attention": 128, "hidden_activation": "gelu"},
    "mpnet": {"layer_norm_eps": 1e-12, "relative_attention_num_buckets": 32},
    "new": {"layer_norm_eps": 1e-12, "rope_theta": 10000.0, "type_vocab_size": 1},
    "nomic_bert": {"layer_norm_eps": 1e-12, "type_vocab_size": 2, "rope_theta": 1000.0},
    "qwen2": DECODER | WINDOWS,
    "qwen3": DECODER | WINDOWS | {"head_dim": 128},
    "roberta": BERT_LIKE | {"pad_token_id": 1},
    "t5": {"layer_norm_epsilon": 1e-6, "relative_attention_max_distance": 128},
    "xlm-roberta": BERT_LIKE | {"pad_token_id": 1},
    "xlm_roberta_flash": JINA_V3 | {"rotary_emb_base": 10000.0, "lora_rank": 4, "lora_alpha": 1.0},
}


@pytest.mark.parametrize("name", DEFAULTS)
def test_a_key_that_is_missing_is_what_the_library_takes(name: str) -> None:
    """A checkpoint saved by an older version lacks keys that change every vector."""
    given = {key: value for key, value in config(name).items() if key not in DEFAULTS[name]}
    given.pop("rope_parameters", None)
    bare, whole = (EncoderConfig(keys) for keys in (given, given | DEFAULTS[name]))
    assert comparable(ENCODERS[name].read(bare)) == comparable(ENCODERS[name].read(whole))


def comparable(options: Options) -> Config:
    """The options; a partial function equals no other."""
    return vars(options) | {"norm": str(options.norm)}


@pytest.mark.parametrize("name", ["eurobert", "llama"])
@pytest.mark.parametrize("given", [{}, {"num_key_value_heads": None}, {"num_key_value_heads": 2}])
def test_every_head_has_its_own_keys_by_default(name: str, given: dict[str, int | None]) -> None:
    """As many keys and values as queries, where the configuration does not say."""
    options = ENCODERS[name].read(EncoderConfig(SIZES | given))
    assert options.key_value_heads == (given.get("num_key_value_heads") or 4)


def test_every_third_layer_of_modernbert_is_global_by_default() -> None:
    """Types, thetas and half of a window of 128 are those of transformers."""
    options = ENCODERS["modernbert"].read(EncoderConfig(SIZES | {"num_hidden_layers": 5}))
    assert options.windows == (None, 64, 64, None, 64)
    slowest = [turns[-1] ** -(32 / 30) for turns in options.frequencies]
    assert slowest == pytest.approx([160_000.0, 10_000.0, 10_000.0, 160_000.0, 10_000.0], rel=1e-4)


@pytest.mark.parametrize(
    ("projection", "activation"),
    [("relu", "relu"), ("gated-gelu", "gelu_new"), ("gated-silu", "silu"), ("gelu", "gelu")],
)
def test_t5_says_its_activation_twice(projection: str, activation: str) -> None:
    """A saved configuration has it in two more keys, which agree."""
    gated = projection.startswith("gated")
    keys = {"dense_act_fn": activation, "is_gated_act": gated, "feed_forward_proj": projection}
    assert read("t5", **keys).gated is gated
