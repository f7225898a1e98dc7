"""What tokens of a decoder attend to: config.json's keys, and what the user says."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from models.formulas.decoder_numpy import DECODER
from polybake.baking.encoders import ENCODERS
from polybake.baking.encoders.decoder import DecoderConfig

#: Whose name says it.
NAMED = ("bidirectional_pplx_qwen3", "llama_bidirec")
KINDS = sorted(
    name
    for name in ENCODERS
    if issubclass(ENCODERS[name].Config, DecoderConfig) and name not in NAMED
)


def made(name: str, **keys: Any) -> DecoderConfig:
    config = ENCODERS[name].Config.model_validate(DECODER | keys)
    assert isinstance(config, DecoderConfig)
    return config


@pytest.mark.parametrize("name", KINDS)
def test_the_user_says_what_no_key_does(name: str) -> None:
    """Without a key tokens attend to those before them, as transformers has it."""
    plain = made(name)
    assert plain.causal
    assert plain.attending("causal").causal
    assert not plain.attending("both").causal
    windows = [made.attention_windows()[0] for made in (plain, plain.attending("both"))]
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
    config = made(name, **{key: value})
    assert config.causal == causal
    same, other = ("causal", "both") if causal else ("both", "causal")
    assert config.attending(same).causal == causal  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=rf'{key} contradicts attention = "{other}" in polybake'):
        config.attending(other)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", NAMED)
def test_a_name_that_says_it(name: str) -> None:
    """Nothing may contradict the class that a model_type stands for."""
    assert not made(name).causal
    assert not made(name, is_causal=False).attending("both").causal
    with pytest.raises(ValueError, match="model_type contradicts attention"):
        made(name).attending("causal")
    with pytest.raises(ValidationError, match="is_causal and model_type contradict each other"):
        made(name, is_causal=True)
