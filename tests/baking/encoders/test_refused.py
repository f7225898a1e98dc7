"""What each architecture does not compute is refused by its key."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from models.folders.clip import PICTURES
from models.folders.drawn import DRAWN, SIZES
from models.folders.rotary import LLAMA3
from models.folders.tiny_folders import write_bert
from models.formulas import jina_bert_numpy, jina_v3_numpy, nomic_moe_numpy
from polybake.baking.sources import open_source
from polybake.errors import InputError

Config = dict[str, Any]

TEXT = {key: value for key, value in DRAWN["bert"].items() if key != "type_vocab_size"}

YARN = {"rope_type": "yarn", "factor": 4.0}
LINEAR = {"type": "linear", "factor": 2.0}
VOYAGE = {
    "architectures": ["Qwen3BidirectionalModel"],
    "auto_map": {"AutoModel": "modeling_qwen3_bidirectional.Qwen3BidirectionalModel"},
}
PUBLISHED = {"n_embd": 24, "n_layer": 3, "n_head": 4, "n_inner": 28, "vocab_size": 68}

#: Whole configurations, by the names of the rows below.
CONFIGS: dict[str, Config] = {
    **{kind: config | {"model_type": kind} for kind, config in DRAWN.items()},
    "clip": {"model_type": "clip", "text_config": TEXT, "vision_config": PICTURES},
    "experts": nomic_moe_numpy.CONFIG,
    "jina_bert": jina_bert_numpy.CONFIG,
    "new": SIZES | {"model_type": "new", "rope_theta": 50.0},
    "nomic_bert": PUBLISHED | {"model_type": "nomic_bert", "activation_function": "swiglu"},
    "xlm_roberta_flash": jina_v3_numpy.CONFIG,
}

#: Configurations, a value, and keys that are refused where they have it.
REFUSED: list[tuple[list[str], object, list[str]]] = [
    (["albert"], 0, ["num_hidden_groups"]),
    (["albert"], 10**9, ["inner_group_num"]),
    (["albert", "bert", "deberta-v2", "gte", "mpnet", "qwen2", "roberta"], "mish", ["hidden_act"]),
    (["bart", "gpt2"], "mish", ["activation_function"]),
    (["bart"], True, ["normalize_before", "add_final_layer_norm", "static_position_embeddings"]),
    (["bart"], 10**12, ["decoder_layers"]),
    (["bart"], 99, ["decoder_start_token_id"]),
    (["bert"], "relative_key", ["position_embedding_type"]),
    (["bert"], 0, ["num_hidden_layers"]),
    (["bert", "qwen2"], 10**12, ["num_hidden_layers"]),
    (["bert", "mpnet"], "12", ["hidden_size"]),
    (["bert", "electra", "roberta"], True, ["is_decoder"]),
    (["deberta", "deberta-v2"], False, ["relative_attention"]),
    (["deberta"], True, ["position_biased_input", "talking_head", "share_att_key"]),
    (["deberta", "deberta-v2"], 2, ["type_vocab_size"]),
    (["deberta"], 8, ["position_buckets"]),
    (["deberta"], "layer_norm", ["norm_rel_ebd"]),
    (["deberta-v2"], True, ["position_biased_input"]),
    (["deberta-v2"], 3, ["conv_kernel_size"]),
    (["deberta-v2"], 8, ["embedding_size"]),
    (["deberta-v2"], 5, ["attention_head_size"]),
    (["deberta-v2"], "c2p|p2p", ["pos_att_type"]),
    (["deberta-v2"], "rms_norm", ["norm_rel_ebd"]),
    (["deberta-v2"], 10**12, ["max_position_embeddings"]),
    (["distilbert"], "12", ["dim"]),
    (["distilbert"], "mish", ["activation"]),
    (["distilbert"], None, ["n_layers"]),
    (["electra"], 0, ["embedding_size"]),
    (["eurobert"], True, ["mlp_bias", "is_causal"]),
    (["eurobert", "qwen3"], LINEAR, ["rope_parameters"]),
    (["eurobert", "jina_bert"], {"AutoModel": "modeling.OtherModel"}, ["auto_map"]),
    (["experts"], True, ["moe_normalize_expert_weights", "expert_choice_router"]),
    (["experts"], 1, ["num_shared_experts", "num_experts"]),
    (["experts"], 2, ["ffn_div"]),
    (["gemma"], "silu", ["hidden_act"]),
    (["gemma"], "gelu", ["hidden_activation"]),
    (["gemma", "gemma3_text"], LINEAR, ["rope_scaling"]),
    (["gemma", "llama"], True, ["mlp_bias"]),
    (["gemma3_text"], 50.0, ["attn_logit_softcapping"]),
    (["gemma3_text"], False, ["is_causal"]),
    (["gemma3_text"], 0, ["query_pre_attn_scalar"]),
    (["gemma3_text"], None, ["sliding_window"]),
    (["gpt2"], False, ["is_causal", "scale_attn_weights"]),
    (["gpt2"], True, ["add_cross_attention", "scale_attn_by_inverse_layer_idx"]),
    (["gte"], -1, ["type_vocab_size"]),
    (["gte"], {"type": "ntk", "factor": 8.0}, ["rope_scaling"]),
    (["jina_bert"], "original", ["feed_forward_type"]),
    (["jina_bert", "xlm_roberta_flash"], "cls", ["emb_pooler"]),
    (["jina_bert"], 4, ["alibi_scaling"]),
    (["jina_bert"], "rotary", ["position_embedding_type"]),
    (["jina_embeddings_v3"], YARN, ["rope_parameters"]),
    (["jina_embeddings_v3"], "swiglu", ["hidden_act"]),
    (["jina_embeddings_v3"], ["separation"], ["lora_adaptations"]),
    (["mistral", "modernbert", "qwen2"], ["full_attention"], ["layer_types"]),
    (["mistral"], -1, ["sliding_window"]),
    (["modernbert"], "mish", ["hidden_activation"]),
    (["modernbert"], 0, ["local_attention", "sliding_window", "global_attn_every_n_layers"]),
    (["modernbert"], 12, ["head_dim"]),
    (["modernbert", "qwen2"], YARN, ["rope_scaling"]),
    (["modernbert"], None, ["local_rope_theta"]),
    (["mpnet"], 16, ["relative_attention_num_buckets"]),
    (["new"], {"rope_theta": 7.0}, ["rope_parameters"]),
    (["new"], "rms_norm", ["layer_norm_type"]),
    (["new"], "absolute", ["position_embedding_type"]),
    (["new"], False, ["pack_qkv"]),
    (["new"], True, ["logn_attention_scale"]),
    (["nomic_bert"], "geglu", ["activation_function"]),
    (
        ["nomic_bert"],
        True,
        ["prenorm", "parallel_block", "causal", "use_rms_norm", "rotary_emb_interleaved"],
    ),
    (["nomic_bert"], 0.5, ["rotary_emb_fraction"]),
    (["nomic_bert"], 512, ["rotary_emb_scale_base"]),
    (["nomic_bert"], 2.0, ["rotary_scaling_factor"]),
    (["qwen2"], 0, ["sliding_window"]),
    (["roberta"], None, ["pad_token_id"]),
    (["roberta"], -1, ["pad_token_id"]),
    (["t5"], "gated-mish", ["feed_forward_proj"]),
    (["t5"], 3, ["relative_attention_num_buckets"]),
    (["t5"], 2, ["relative_attention_max_distance"]),
    (["t5"], 10**12, ["relative_attention_max_distance"]),
    (["t5"], 0, ["d_kv"]),
    (["t5"], True, ["is_decoder", "is_gated_act"]),
    (["t5"], "gelu_new", ["dense_act_fn"]),
    (["t5"], "mish", ["dense_act_fn"]),
    (["xlm_roberta_flash"], "gelu_new", ["hidden_act"]),
    (["xlm_roberta_flash"], 256, ["truncate_dim"]),
    (["xlm_roberta_flash"], {"rope_theta": 3.0}, ["rope_parameters"]),
    (["xlm_roberta_flash"], {"separation": ""}, ["task_instructions"]),
    (["xlm_roberta_flash"], 0, ["lora_rank"]),
    (["xlm_roberta_flash"], True, ["use_reg_tokens"]),
    (["xlm_roberta_flash"], {"AutoModel": "modeling.OwnModel"}, ["auto_map"]),
]

#: By configuration: changes, and what the message names beside or in the place of a key.
NAMED: list[tuple[str, Config, str]] = [
    ("albert", {"num_attention_heads": 5}, "no multiple of num_attention_heads 5"),
    ("bart", {"encoder_attention_heads": 5}, "d_model 128 is no multiple of encoder_attention_"),
    ("bart", {"decoder_attention_heads": 5}, "d_model 128 is no multiple of decoder_attention_"),
    ("bert", {"num_attention_heads": 5}, "no multiple of num_attention_heads 5"),
    ("bert", {"hidden_act": "mish"}, "'mish'; known are: gelu"),
    ("clip", {"text_config": TEXT | {"is_causal": False}}, "is_causal: "),
    ("clip", {"text_config": TEXT | {"hidden_act": "mish"}}, "hidden_act: .*'mish'"),
    ("clip", {"text_config": TEXT | {"num_attention_heads": 5}}, "num_attention_heads 5"),
    ("clip", {"text_config": TEXT | {"rope_theta": 5.0}}, "unknown key rope_theta = 5.0"),
    ("clip", {"text_config": TEXT | {"eos_token_id": [2, 3]}}, "eos_token_id: "),
    ("clip", {"text_config": 3}, "text_config"),
    ("deberta-v2", {"num_attention_heads": 5}, "num_attention_heads 5"),
    ("distilbert", {"n_heads": 5}, "dim 128 is no multiple of n_heads 5"),
    ("distilbert", {"activation": "mish"}, "activation: .*known are: gelu"),
    ("experts", {"moe_top_k": 6}, "moe_top_k 6 is more than num_experts 5"),
    ("experts", {"num_experts": None}, "moe_top_k 2 is more than num_experts null"),
    ("experts", {"activation_function": "swiglu"}, "'swiglu' of experts"),
    ("gpt2", {"n_head": 5}, "n_embd 128 is no multiple of n_head 5"),
    ("jina_embeddings_v3", {"num_attention_heads": 5}, "no multiple of num_attention_heads 5"),
    ("llama", {"rope_scaling": {"type": "dynamic", "factor": 4.0}}, "rope_scaling.*'llama3'"),
    ("llama", {"rope_scaling": {"rope_type": "llama3", "factor": 4.0}}, "needs low_freq_factor, "),
    ("llama", {"rope_scaling": LLAMA3 | {"low_freq_factor": 4.0}}, "high_freq_factor are both 4.0"),
    ("llama", {"rope_scaling": LLAMA3 | {"factor": 0.0}}, "rope_scaling.factor: "),
    ("llama", {"rope_scaling": LLAMA3 | {"beta_fast": 2.0}}, "unknown key rope_scaling.beta_fast"),
    ("mistral", {"rope_scaling": LINEAR}, "rope_scaling.*type: "),
    ("mistral", {"head_dim": 7}, "head size 7 is odd"),
    ("mistral", {"head_dim": 10**12}, "head size 1000000000000 is odd, or more than 65536"),
    ("modernbert", {"num_attention_heads": 5}, "no multiple of num_attention_heads 5"),
    ("new", {"rope_scaling": LINEAR}, "rope_scaling.type: .*'linear'"),
    ("new", {"rope_scaling": {"type": "ntk", "factor": 0.5}}, "rope_scaling.factor: .*0.5"),
    (
        "new",
        {"rope_scaling": {"type": "ntk", "factor": 8.0, "mixed_b": 0.6}},
        "rope_scaling.mixed_b: .*0.6",
    ),
    ("nomic_bert", {"n_head": 5}, "no multiple of num_attention_heads 5"),
    ("qwen2", {"num_key_value_heads": 3}, "no multiple of num_key_value_heads 3"),
    ("qwen3", VOYAGE | {"is_causal": True}, "is_causal and architectures contradict each other; k"),
    (
        "qwen3",
        {
            "model_type": "bidirectional_pplx_qwen3",
            "auto_map": {"AutoModel": "modeling.PPLXQwen3ContextualModel"},
        },
        "unknown key auto_map = ",
    ),
]


@pytest.mark.parametrize("name", CONFIGS)
def test_the_whole_is_right(name: str, tmp_path: Path) -> None:
    """It is refused for what is changed in it."""
    open_source(write_bert(tmp_path, CONFIGS[name], {}))


def message(folder: Path, name: str, changes: Config) -> str:
    """Of the refusal; weights are not looked at."""
    with pytest.raises(InputError) as raised:
        open_source(write_bert(folder / "model", CONFIGS[name] | changes, {}))
    assert f"{folder / 'model' / 'config.json'}: " in str(raised.value)
    return str(raised.value)


@pytest.mark.parametrize(
    ("name", "key", "value"),
    [
        pytest.param(name, key, value, id=f"{name}-{key}={value}"[:60])
        for names, value, keys in REFUSED
        for name in names
        for key in keys
    ],
)
def test_a_key_is_named(name: str, key: str, value: object, tmp_path: Path) -> None:
    """A configuration outside the formula is an error that names the architecture's own key."""
    assert re.search(rf"\b{key}\b", message(tmp_path, name, {key: value}))


@pytest.mark.parametrize(("name", "changes", "shown"), NAMED)
def test_what_does_not_fit_is_named(name: str, changes: Config, shown: str, tmp_path: Path) -> None:
    """Keys that do not fit each other, and what stands inside of a key."""
    assert re.search(shown, message(tmp_path, name, changes))
