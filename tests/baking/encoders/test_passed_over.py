"""Every key that transformers writes into config.json is one that an architecture knows."""

from __future__ import annotations

import pytest
from pydantic import AliasChoices

from models.folders.recorded_keys import recorded_keys
from polybake.baking.encoders import ENCODERS
from polybake.baking.encoders.architecture import EncoderConfig

#: Keys that can change vectors; a value that does so is refused.
REFUSED = {
    *("add_cross_attention", "cross_attention_hidden_size", "pruned_heads"),
    *("is_encoder_decoder", "tie_encoder_decoder"),
}

#: Architectures that transformers has no class of.
OWN_CODE = {
    *("bidirectional_pplx_qwen3", "jina_bert", "jina_bert_qk", "llama_bidirec", "new"),
    "xlm_roberta_flash",
}


#: Objects of a model of texts and pictures whose keys are read like a text model's own.
INNER = {"text_config", "text_config_dict"}


def names(config: type[EncoderConfig]) -> set[str]:
    """What a file may call the fields of a configuration."""
    found = set()
    for key, info in config.model_fields.items():
        alias = info.validation_alias
        choices = alias.choices if isinstance(alias, AliasChoices) else [alias or key]
        found |= {str(choice) for choice in choices}
    return found


@pytest.mark.parametrize("name", sorted(ENCODERS.keys() - OWN_CODE))
def test_every_key_is_declared_or_passed_over(name: str) -> None:
    """A model that transformers saves is refused for no key that its class has."""
    config = ENCODERS[name].Config
    known = names(config) | {*config.passed_over} | REFUSED | INNER
    saved = [keys["config.json"].get(name) for keys in recorded_keys("transformers ")]
    assert any(saved), "run tools/model_keys.py"
    assert not [key for keys in saved for key in keys or () if key not in known]


@pytest.mark.parametrize("name", ENCODERS)
def test_nothing_is_both_computed_and_passed_over(name: str) -> None:
    """No key is both computed and ignored, except two that a head reads as well."""
    config = ENCODERS[name].Config
    assert names(config) & {*config.passed_over} <= {"max_position_embeddings", "pad_token_id"}


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
    """A key that can change vectors is never ignored, by any architecture."""
    assert not [name for name, encoder in ENCODERS.items() if key in encoder.Config.passed_over]
