"""Llama against an independent forward pass in NumPy."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from models.folders.tiny_folders import write_bert
from models.formulas.decoder_numpy import DECODER, GROUPS, THETA, decoder, decoder_weights
from models.formulas.rotary_numpy import HEADS, HIDDEN, Allowed, Floats, assert_matches, near
from polybake.baking.encoders.llama import LlamaConfig
from polybake.baking.sources import open_source
from polybake.errors import InputError

SIZE = HIDDEN // HEADS
LLAMA: dict[str, Any] = DECODER | {"model_type": "llama"}
#: Of a head of 16 elements, pairs turn fast, between, and slow.
LLAMA3 = {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 64,
}


def causal(length: int) -> Allowed:
    return near(length, after=0)


def llama3(size: int) -> Floats:
    """The frequencies, a pair at a time."""
    found = []
    for pair in range(size // 2):
        plain = THETA ** (-2 * pair / size)
        turns = 64 * plain / (2 * math.pi)
        share = min(max((turns - 1) / (4 - 1), 0), 1)
        found.append(share * plain + (1 - share) * plain / 8)
    assert len({*found}) == size // 2
    return np.array(found)


@pytest.mark.parametrize("biased", ["", "qkvo"])
def test_matches_numpy(biased: str, tmp_path: Path) -> None:
    """Every kept token's embedding equals the formula's, padded on either side."""
    config = LLAMA | {"attention_bias": bool(biased)}
    assert_matches(config, decoder_weights(SIZE, biased), decoder(SIZE, [causal] * 3), tmp_path)


@pytest.mark.parametrize("key", ["rope_scaling", "rope_parameters"])
def test_llama_3s_frequencies(key: str, tmp_path: Path) -> None:
    """In the form of either version of transformers; the theta stands inside or outside."""
    inside = {"rope_theta": THETA} if key == "rope_parameters" else {}
    changes = {"rope_parameters": None, "rope_theta": THETA, "head_dim": 16}
    config = LLAMA | changes | {key: LLAMA3 | inside}
    forward = decoder(16, [causal] * 3, llama3(16))
    assert_matches(config, decoder_weights(16), forward, tmp_path)


def test_every_head_has_its_own_keys_where_no_number_is_given() -> None:
    """As many keys and values as queries are transformers' default."""
    for given in ({}, {"num_key_value_heads": None}):
        keys = {key: value for key, value in LLAMA.items() if key != "num_key_value_heads"}
        assert LlamaConfig.model_validate(keys | given).num_key_value_heads == HEADS
    assert LlamaConfig.model_validate(LLAMA).num_key_value_heads == GROUPS


def test_nvidias_class(tmp_path: Path) -> None:
    """It attends to both sides; its code is known."""
    code = "llama_bidirectional_model.LlamaBidirectional"
    config = LLAMA | {
        "model_type": "llama_bidirec",
        "auto_map": {"AutoConfig": f"{code}Config", "AutoModel": f"{code}Model"},
        "pooling": "avg",
        "temperature": 0.02,
    }
    assert_matches(config, decoder_weights(SIZE), decoder(SIZE, [near] * 3), tmp_path)


@pytest.mark.parametrize(
    ("key", "value", "shown"),
    [
        ("mlp_bias", True, "mlp_bias: "),
        ("rope_scaling", {"type": "dynamic", "factor": 4.0}, "rope_scaling.*type: .*'llama3'"),
        (
            "rope_scaling",
            {"rope_type": "llama3", "factor": 4.0},
            "llama3 needs low_freq_factor, ",
        ),
        ("rope_scaling", LLAMA3 | {"low_freq_factor": 4.0}, "high_freq_factor are both 4.0"),
        ("rope_scaling", LLAMA3 | {"factor": 0.0}, "rope_scaling.factor: "),
        ("rope_scaling", LLAMA3 | {"beta_fast": 2.0}, "unknown key rope_scaling.beta_fast"),
    ],
)
def test_refuses_what_it_does_not_compute(
    key: str, value: object, shown: str, tmp_path: Path
) -> None:
    """A configuration outside the formula is an error that names the key."""
    folder = write_bert(tmp_path / "model", LLAMA | {key: value}, decoder_weights(SIZE))
    with pytest.raises(InputError, match=shown):
        open_source(folder)
