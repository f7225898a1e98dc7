"""What every architecture's configuration computes, ignores and refuses."""

from __future__ import annotations

import pytest
from pydantic import TypeAdapter, ValidationError

from models.folders.drawn import DRAWN, SIZES
from polybake.baking.encoders import ENCODERS
from polybake.baking.encoders.architecture import Epsilon, HiddenAct
from polybake.baking.encoders.modernbert import ModernBertConfig
from polybake.baking.encoders.t5 import T5Config

#: Architectures whose attention is causal unless the configuration says otherwise.
DECODERS = {
    "bidirectional_pplx_qwen3",
    "clip",
    "clip_text_model",
    "gemma",
    "gemma3_text",
    "gpt2",
    "llama",
    "llama_bidirec",
    "mistral",
    "qwen2",
    "qwen3",
}
#: Architectures whose attention in transformers does not read ``is_causal``.
ALWAYS_BOTH_WAYS = {"deberta", "deberta-v2", "mpnet"}
#: Architectures that transformers makes decoders of, and refuses where ``is_decoder`` is false.
CROSSED = {
    *("bert", "camembert", "electra", "gpt2", "jina_bert", "jina_bert_qk", "roberta"),
    "xlm-roberta",
}


def refused(name: str, **settings: object) -> set[object]:
    """The keys that the configuration finds fault with, besides those that are missing."""
    with pytest.raises(ValidationError) as raised:
        ENCODERS[name].Config.model_validate({"vocab_size": None, **settings})
    faults = {fault["loc"][0] for fault in raised.value.errors() if fault["type"] != "missing"}
    return faults - {"vocab_size"}


@pytest.mark.parametrize("name", ENCODERS)
def test_causal_attention_is_computed_ignored_or_refused(name: str) -> None:
    """What transformers lets ``is_causal`` change is either computed or refused by that key."""
    fine = name in DECODERS | ALWAYS_BOTH_WAYS
    assert refused(name, is_causal=True) == (set() if fine else {"is_causal"})


@pytest.mark.parametrize("name", sorted(set(ENCODERS) - DECODERS))
@pytest.mark.parametrize("value", [False, None])
def test_attention_to_both_sides_may_be_said(name: str, value: bool | None) -> None:
    """An encoder whose configuration says that it is not causal is as if it said nothing."""
    assert refused(name, is_causal=value) == set()


@pytest.mark.parametrize("name", ENCODERS)
def test_cross_attention_is_refused_where_it_would_be_built(name: str) -> None:
    """An encoder that has none in transformers ignores the key."""
    found = refused(name, add_cross_attention=True)
    assert found == ({"add_cross_attention"} if name in CROSSED else set())


@pytest.mark.parametrize("name", ENCODERS)
def test_quantized_weights_are_refused_by_their_key(name: str) -> None:
    """A quantization_config is refused by name, before any tensor is looked at."""
    settings = {"quant_method": "fp8"}
    assert refused(name, quantization_config=settings) == {"quantization_config"}


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -1e-5, "1e-5", True, None])
@pytest.mark.parametrize("name", sorted(set(ENCODERS) - {"bart", "distilbert"}))
def test_epsilon_is_a_number(name: str, value: object) -> None:
    """The epsilon of a normalisation is finite and not negative; two have no key."""
    keys = ("layer_norm_eps", "layer_norm_epsilon", "norm_eps", "rms_norm_eps")
    assert len(refused(name, **dict.fromkeys(keys, value))) == 1


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


BERT = {"layer_norm_eps": 1e-12, "hidden_act": "gelu", "type_vocab_size": 2}
DECODER = {"rms_norm_eps": 1e-6, "hidden_act": "silu", "rope_theta": 10000.0}
CLIP = {"layer_norm_eps": 1e-5, "hidden_act": "quick_gelu", "eos_token_id": 49407}
JINA = {"layer_norm_eps": 1e-12, "type_vocab_size": 2, "emb_pooler": None}
JINA_V3 = {"layer_norm_eps": 1e-5, "hidden_act": "gelu", "type_vocab_size": 1}
#: Source: the configuration classes of transformers 5.23; ``new``, JinaBERT and
#: ``xlm_roberta_flash`` bring their own.
DEFAULTS: dict[str, dict[str, object]] = {
    "albert": {"layer_norm_eps": 1e-12, "hidden_act": "gelu_new", "embedding_size": 128},
    "bart": {"activation_function": "gelu", "scale_embedding": False, "decoder_start_token_id": 2},
    "bert": BERT,
    "bidirectional_pplx_qwen3": DECODER | {"head_dim": 128},
    "camembert": BERT | {"pad_token_id": 1},
    "clip": CLIP,
    "clip_text_model": CLIP,
    "deberta": {"layer_norm_eps": 1e-7, "max_relative_positions": -1, "type_vocab_size": 0},
    "deberta-v2": {"layer_norm_eps": 1e-7, "max_relative_positions": -1, "type_vocab_size": 0},
    "distilbert": {},
    "electra": BERT | {"embedding_size": 128},
    "eurobert": {"rms_norm_eps": 1e-5, "hidden_act": "silu", "attention_bias": False},
    "gemma": DECODER | {"head_dim": 256, "hidden_act": "gelu_pytorch_tanh"},
    "gemma3_text": {"head_dim": 256, "query_pre_attn_scalar": 256, "sliding_window": 4096},
    "gpt2": {"layer_norm_epsilon": 1e-5, "activation_function": "gelu_new", "n_positions": 1024},
    "gte": {"layer_norm_eps": 1e-12, "hidden_act": "gelu", "type_vocab_size": 1},
    "jina_bert": JINA,
    "jina_bert_qk": JINA | {"feed_forward_type": "geglu"},
    "jina_embeddings_v3": JINA_V3 | {"rope_theta": 20000.0},
    "llama": DECODER | {"attention_bias": False, "rope_theta": 10000.0},
    "llama_bidirec": DECODER | {"attention_bias": False},
    "mistral": DECODER | {"sliding_window": 4096},
    "modernbert": {"norm_eps": 1e-5, "local_attention": 128, "hidden_activation": "gelu"},
    "mpnet": {"layer_norm_eps": 1e-12, "relative_attention_num_buckets": 32},
    "new": {"layer_norm_eps": 1e-12},
    "nomic_bert": {"layer_norm_eps": 1e-12, "type_vocab_size": 2, "rope_theta": 1000.0},
    "qwen2": DECODER | {"use_sliding_window": False, "max_window_layers": 28},
    "qwen3": DECODER | {"head_dim": 128, "use_sliding_window": False},
    "roberta": BERT | {"pad_token_id": 1},
    "t5": {"layer_norm_epsilon": 1e-6, "relative_attention_max_distance": 128},
    "xlm-roberta": BERT | {"pad_token_id": 1},
    "xlm_roberta_flash": JINA_V3 | {"rope_theta": 10000.0, "lora_rank": 4, "lora_alpha": 1.0},
}


@pytest.mark.parametrize("name", ENCODERS)
def test_a_key_that_is_missing_is_what_the_library_takes(name: str) -> None:
    """A checkpoint saved by an older version lacks keys that change every vector."""
    fields = ENCODERS[name].Config.model_fields
    assert {key: fields[key].default for key in DEFAULTS[name]} == DEFAULTS[name]


@pytest.mark.parametrize("name", ["eurobert", "llama"])
@pytest.mark.parametrize("given", [{}, {"num_key_value_heads": None}, {"num_key_value_heads": 2}])
def test_every_head_has_its_own_keys_by_default(name: str, given: dict[str, int | None]) -> None:
    """As many keys and values as queries, where the configuration does not say."""
    config = ENCODERS[name].Config.model_validate(SIZES | given)
    assert config.num_key_value_heads == (given.get("num_key_value_heads") or 4)


def test_every_third_layer_of_modernbert_is_global_by_default() -> None:
    """Types, thetas and half of a window of 128 are those of transformers."""
    config = ModernBertConfig.model_validate(SIZES | {"num_hidden_layers": 5})
    assert [kind == "full_attention" for kind in config.types()] == [1, 0, 0, 1, 0]
    assert config.thetas() == {"full_attention": 160_000.0, "sliding_attention": 10_000.0}
    assert config.attention_windows()["sliding_attention"] == (64, 64)


@pytest.mark.parametrize(
    ("projection", "activation"),
    [("relu", "relu"), ("gated-gelu", "gelu_new"), ("gated-silu", "silu"), ("gelu", "gelu")],
)
def test_t5_says_its_activation_twice(projection: str, activation: str) -> None:
    """A saved configuration has it in two more keys, which agree."""
    gated = projection.startswith("gated")
    keys = {"dense_act_fn": activation, "is_gated_act": gated, "feed_forward_proj": projection}
    assert T5Config.model_validate(DRAWN["t5"] | keys).gated is gated
