"""What every architecture's configuration computes, ignores and refuses."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from polybake.encoders import ENCODERS

#: Their attention is causal unless they are told otherwise.
DECODERS = {"gemma3_text", "mistral", "qwen2", "qwen3"}
#: transformers' own attention of these does not read ``is_causal``.
ALWAYS_BOTH_WAYS = {"deberta-v2", "mpnet"}


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
