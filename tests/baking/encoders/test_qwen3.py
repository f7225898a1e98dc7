"""Qwen3 against an independent forward pass in NumPy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from models.folders.tiny_folders import write_bert
from models.formulas.decoder_numpy import DECODER, decoder, decoder_weights
from models.formulas.rotary_numpy import (
    HIDDEN,
    Allowed,
    assert_matches,
    linear,
    near,
    weights_of,
)
from polybake.baking.sources import open_source
from polybake.errors import InputError

SIZE = 10
QWEN3: dict[str, Any] = DECODER | {"model_type": "qwen3", "head_dim": SIZE}


def causal(length: int) -> Allowed:
    return near(length, after=0)


@pytest.mark.parametrize("attention_bias", [False, True])
def test_matches_numpy(attention_bias: bool, tmp_path: Path) -> None:
    """Heads have their own size and are normalised before rotation; all or none have biases."""
    weights = decoder_weights(SIZE, biased="qkvo" if attention_bias else "", norms=True)
    config = QWEN3 | {"attention_bias": attention_bias}
    assert_matches(config, weights, decoder(SIZE, [causal] * 3), tmp_path)


VOYAGE = {
    "architectures": ["Qwen3BidirectionalModel"],
    "auto_map": {"AutoModel": "modeling_qwen3_bidirectional.Qwen3BidirectionalModel"},
    "num_labels": 7,
}


@pytest.mark.parametrize("without", ["architectures", "auto_map", ""])
def test_voyages_class(without: str, tmp_path: Path) -> None:
    """It attends to both sides and ends in a linear layer, whichever key names it."""
    config = {key: value for key, value in (QWEN3 | VOYAGE).items() if key != without}
    weights = decoder_weights(SIZE, norms=True)
    weights |= weights_of({"linear.weight": (7, HIDDEN)})
    inner = decoder(SIZE, [near] * 3)
    assert_matches(config, weights, lambda w, ids: linear(inner(w, ids), w, "linear"), tmp_path)


def test_voyages_class_is_not_causal(tmp_path: Path) -> None:
    """A key that says so is refused."""
    folder = write_bert(tmp_path / "model", QWEN3 | VOYAGE | {"is_causal": True}, {})
    with pytest.raises(InputError, match=r"is_causal and architectures contradict each other; k"):
        open_source(folder)


def test_voyages_class_without_its_layer_is_refused(tmp_path: Path) -> None:
    """A class of that name, and a number of labels, want the layer; others forbid it."""
    weights = decoder_weights(SIZE, norms=True)
    folder = write_bert(tmp_path / "model", QWEN3 | VOYAGE, weights)
    with pytest.raises(InputError, match=r"missing linear\.weight"):
        open_source(folder).encoder.place()


PPLX = {
    "model_type": "bidirectional_pplx_qwen3",
    "architectures": ["PPLXQwen3Model"],
    "auto_map": {
        "AutoConfig": "configuration.PPLXQwen3Config",
        "AutoModel": "modeling.PPLXQwen3Model",
    },
    "use_bidirectional_attention": True,
}


def test_perplexitys_class(tmp_path: Path) -> None:
    """It attends to both sides."""
    weights = decoder_weights(SIZE, norms=True)
    assert_matches(QWEN3 | PPLX, weights, decoder(SIZE, [near] * 3), tmp_path)


def test_perplexitys_other_code_is_refused(tmp_path: Path) -> None:
    """A class for chunks of one document computes something else."""
    code = {"auto_map": {"AutoModel": "modeling.PPLXQwen3ContextualModel"}}
    folder = write_bert(tmp_path / "model", QWEN3 | PPLX | code, {})
    with pytest.raises(InputError, match="unknown key auto_map = "):
        open_source(folder)


def test_head_size_is_128_where_none_is_given(tmp_path: Path) -> None:
    """The default is transformers', and no quotient of the hidden size."""
    config = {key: value for key, value in QWEN3.items() if key != "head_dim"}
    folder = write_bert(tmp_path / "model", config, decoder_weights(128, norms=True))
    open_source(folder).encoder.place()


def test_refuses_scaled_positions(tmp_path: Path) -> None:
    """A rotation outside the formula is an error that names the key."""
    config = QWEN3 | {"rope_parameters": {"rope_type": "linear", "factor": 2.0}}
    folder = write_bert(tmp_path / "model", config, decoder_weights(SIZE, norms=True))
    with pytest.raises(InputError, match=r"rope_parameters.rope_type: "):
        open_source(folder)
