"""What every architecture's configuration computes, ignores and refuses."""

from __future__ import annotations

import pytest
from pydantic import TypeAdapter, ValidationError

from polybake.encoders import ENCODERS
from polybake.encoders.architecture import Epsilon

#: Their attention is causal unless they are told otherwise.
DECODERS = {"gemma3_text", "mistral", "qwen2", "qwen3"}
#: transformers' own attention of these does not read ``is_causal``.
ALWAYS_BOTH_WAYS = {"deberta-v2", "mpnet"}
#: What transformers makes decoders of, and then refuses where ``is_decoder`` is false.
CROSSED = {"bert", "camembert", "electra", "roberta", "xlm-roberta"}


def refused(name: str, **settings: object) -> set[object]:
    """The keys that the configuration finds fault with, besides those that are missing."""
    with pytest.raises(ValidationError) as raised:
        ENCODERS[name].Config.model_validate(settings)
    return {fault["loc"][0] for fault in raised.value.errors() if fault["type"] != "missing"}


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
    """Whatever the tensors are called, and however they look."""
    settings = {"quant_method": "fp8"}
    assert refused(name, quantization_config=settings) == {"quantization_config"}


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -1e-5, "1e-5", True, None])
@pytest.mark.parametrize("name", sorted(set(ENCODERS) - {"distilbert"}))
def test_epsilon_is_a_number(name: str, value: object) -> None:
    """What a normalisation adds is finite and not negative; DistilBERT's is no key."""
    keys = ("layer_norm_eps", "layer_norm_epsilon", "norm_eps", "rms_norm_eps")
    assert len(refused(name, **dict.fromkeys(keys, value))) == 1


@pytest.mark.parametrize("value", [0, 0.0, 1e-5])
def test_epsilon_may_be_zero(value: float) -> None:
    """No variance of real vectors is zero."""
    assert TypeAdapter(Epsilon).validate_python(value) == value
