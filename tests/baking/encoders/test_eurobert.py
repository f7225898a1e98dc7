"""EuroBERT against an independent forward pass in NumPy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from models.folders.tiny_folders import write_bert
from models.formulas.decoder_numpy import DECODER, decoder, decoder_weights
from models.formulas.rotary_numpy import assert_matches, near
from polybake.baking.encoders.eurobert import EuroBertConfig
from polybake.baking.sources import open_source
from polybake.errors import InputError

SIZE = 10
EUROBERT: dict[str, Any] = DECODER | {
    "model_type": "eurobert",
    "head_dim": SIZE,
    "rms_norm_eps": 1e-6,
    "auto_map": {"AutoModel": "modeling_eurobert.EuroBertModel"},
    "clf_pooling": "late",
}


@pytest.mark.parametrize("biased", ["", "qkvo"])
def test_matches_numpy(biased: str, tmp_path: Path) -> None:
    """Every token attends to all; all or no projections of attention have biases."""
    config = EUROBERT | {"attention_bias": bool(biased)}
    weights = decoder_weights(SIZE, biased=biased)
    assert_matches(config, weights, decoder(SIZE, [near] * 3), tmp_path)


def test_a_head_may_have_its_own_keys() -> None:
    """There are as many keys and values as queries where the configuration does not say."""
    given = {key: value for key, value in EUROBERT.items() if key != "num_key_value_heads"}
    found = EuroBertConfig.model_validate(given)
    assert found.num_key_value_heads == found.num_attention_heads == 4


@pytest.mark.parametrize(
    ("key", "value", "shown"),
    [
        ("mlp_bias", True, "mlp_bias: "),
        ("is_causal", True, "is_causal: "),
        ("rope_parameters", {"rope_type": "linear", "factor": 2.0}, "rope_parameters.rope_type: "),
        ("auto_map", {"AutoModel": "modeling.OtherModel"}, "unknown key auto_map"),
    ],
)
def test_refuses_what_it_does_not_compute(
    key: str, value: object, shown: str, tmp_path: Path
) -> None:
    """A configuration outside the formula is an error that names the key."""
    folder = write_bert(tmp_path / "model", EUROBERT | {key: value}, decoder_weights(SIZE))
    with pytest.raises(InputError, match=shown):
        open_source(folder)
