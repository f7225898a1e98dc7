"""Every key that transformers writes into config.json is one that an architecture knows."""

from __future__ import annotations

import pytest

from baking.encoders.test_architecture import config
from models.folders.recorded_keys import recorded_keys
from polybake.baking.encoders import ENCODERS
from polybake.baking.encoders.encoder_config import EncoderConfig
from polybake.baking.encoders.passed_over import PASSED_OVER
from polybake.base.files.known_keys import Allowed
from polybake.errors import InputError

#: Keys that can change vectors; a value that does so is refused.
REFUSED = {
    *("add_cross_attention", "cross_attention_hidden_size", "pruned_heads"),
    *("is_encoder_decoder", "tie_encoder_decoder"),
}

#: Architectures that transformers has no class of.
OWN_CODE = {
    *("bidirectional_pplx_qwen3", "jina_bert", "jina_bert_qk", "llama_bidirec", "neobert"),
    *("new", "xlm_roberta_flash"),
}

#: Objects of a model of texts and pictures whose keys are read like a text model's own.
INNER = {"text_config", "text_config_dict"}


@pytest.mark.parametrize("name", sorted(ENCODERS.keys() - OWN_CODE))
def test_every_key_is_read_or_passed_over(name: str) -> None:
    """A model that transformers saves is refused for no key that its class has."""
    saved = [keys["config.json"].get(name) for keys in recorded_keys("transformers ")]
    assert any(saved), "run tools/model_keys.py"
    read = EncoderConfig(config(name))
    ENCODERS[name].read(read)
    absent = {key for keys in saved for key in keys or ()} - read.values.keys() - REFUSED - INNER
    read.values = {**read.values, **dict.fromkeys(absent, "said")}
    read.check(Allowed())


@pytest.mark.parametrize("name", ENCODERS)
def test_every_other_key_is_unknown(name: str) -> None:
    """Also one of another architecture; a similar key is shown."""
    read = EncoderConfig(config(name, hiddenact=1, rotary_emb_scale=2.0))
    ENCODERS[name].read(read)
    with pytest.raises(InputError, match="unknown keys hiddenact = 1"):
        read.check(Allowed())


@pytest.mark.parametrize(
    "key",
    [
        *("is_causal", "attention_bias", "sliding_window", "use_bidirectional_attention"),
        *("rope_scaling", "partial_rotary_factor", "hidden_act", "hidden_activation"),
        *("layer_types", "attn_logit_softcapping", "embedding_size", "norm_bias", "alibi"),
        *("num_experts", "quantization_config", "pruned_heads", "is_decoder"),
    ],
)
def test_what_changes_vectors_is_passed_over_nowhere(key: str) -> None:
    """A key that can change vectors is never ignored by all architectures."""
    assert key not in PASSED_OVER
