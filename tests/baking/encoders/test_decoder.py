"""What tokens of a decoder attend to: config.json's keys, and what the user says."""

from __future__ import annotations

from typing import Any

import pytest

from models.formulas.decoder_numpy import DECODER
from polybake.baking.encoders import ENCODERS
from polybake.baking.encoders.encoder_config import EncoderConfig
from polybake.baking.encoders.options import Options
from polybake.errors import InputError

KINDS = ("gemma", "llama", "mistral", "qwen2", "qwen3")
#: Whose name says it.
NAMED = ("bidirectional_pplx_qwen3", "llama_bidirec")


def made(name: str, attention: str | None = None, **keys: Any) -> Options:
    return ENCODERS[name].read(EncoderConfig(DECODER | keys, choices={"attention": attention}))


@pytest.mark.parametrize("name", KINDS)
def test_the_user_says_what_no_key_does(name: str) -> None:
    """Without a key tokens attend to those before them, as transformers has it."""
    assert made(name).causal
    assert made(name, "causal").causal
    assert not made(name, "both").causal
    windows = [made(name, said).attention_windows()[0] for said in (None, "both")]
    assert [window.after for window in windows] == [0, windows[1].before]


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize(
    ("key", "value", "causal"),
    [
        ("is_causal", False, False),
        ("is_causal", True, True),
        ("use_bidirectional_attention", True, False),
        ("use_bidirectional_attention", False, True),
    ],
)
def test_what_a_key_says_is_not_contradicted(
    name: str, key: str, value: bool, causal: bool
) -> None:
    """The user may say the same, and nothing else."""
    same, other = ("causal", "both") if causal else ("both", "causal")
    assert made(name, **{key: value}).causal == causal
    assert made(name, same, **{key: value}).causal == causal
    with pytest.raises(InputError, match=rf'{key} contradicts attention = "{other}" in polybake'):
        made(name, other, **{key: value})


@pytest.mark.parametrize("name", NAMED)
def test_a_name_that_says_it(name: str) -> None:
    """Nothing may contradict the class that a model_type stands for."""
    assert not made(name).causal
    assert not made(name, "both", is_causal=False).causal
    with pytest.raises(InputError, match="model_type contradicts attention"):
        made(name, "causal")
    with pytest.raises(InputError, match="is_causal and model_type contradict each other"):
        made(name, is_causal=True)
