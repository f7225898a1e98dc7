"""jina-embeddings-v3 in transformers' form against an independent forward pass in NumPy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from models.folders.tiny_folders import write_bert
from models.formulas.jina_v3_numpy import THETA, forward, merged, weights
from models.formulas.rotary_numpy import SIZES, assert_matches
from polybake.baking.encoders.jina_embeddings_v3 import JinaEmbeddingsV3Config
from polybake.baking.sources import open_source
from polybake.errors import InputError

JINA: dict[str, Any] = SIZES | {
    "model_type": "jina_embeddings_v3",
    "rope_parameters": {"rope_type": "default", "rope_theta": THETA},
}


def test_matches_numpy(tmp_path: Path) -> None:
    """Every kept token's embedding equals the formula's, padded on either side."""
    assert_matches(JINA, merged(weights(), None), forward, tmp_path)


def test_theta_is_20000_where_none_is_given() -> None:
    """The default is transformers', and not that of the other encoders."""
    assert JinaEmbeddingsV3Config.model_validate(SIZES).theta == 20_000.0


@pytest.mark.parametrize(
    ("key", "value", "shown"),
    [
        ("rope_parameters", {"rope_type": "yarn", "factor": 2.0}, "rope_type: "),
        ("hidden_act", "swiglu", "hidden_act: "),
        ("num_attention_heads", 5, "no multiple of num_attention_heads 5"),
        ("lora_adaptations", ["separation"], "unknown key lora_adaptations"),
    ],
)
def test_refuses_what_it_does_not_compute(
    key: str, value: object, shown: str, tmp_path: Path
) -> None:
    """A configuration outside the formula is an error that names the key."""
    folder = write_bert(tmp_path / "model", JINA | {key: value}, merged(weights(), None))
    with pytest.raises(InputError, match=shown):
        open_source(folder)
