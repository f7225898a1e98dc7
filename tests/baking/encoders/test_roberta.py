"""RoBERTa's family as a BERT whose positions are put in place by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from models.folders.tiny_folders import CONFIG, bert_weights, write_bert
from models.parts.tiny_encoders import token_embeddings
from polybake.baking.sources import open_source
from polybake.errors import InputError

MASK = np.ones((1, 5), np.int64)


@pytest.mark.parametrize("model_type", ["roberta", "xlm-roberta", "camembert"])
@pytest.mark.parametrize(
    ("padding_id", "positions"), [(1, [2, 3, 1, 4, 5]), (17, [18, 19, 20, 17, 21])]
)
def test_is_bert_with_positions_after_padding(
    model_type: str, padding_id: int, positions: list[int], tmp_path: Path
) -> None:
    """Positions begin after the padding id, skip it inside a text, and every type is 0."""
    ids = np.array([[2, 6, 1, 17, 3]])
    config = CONFIG | {"model_type": model_type, "pad_token_id": padding_id}
    weights = bert_weights(config)
    folder = write_bert(tmp_path / "roberta", config, weights)
    found = token_embeddings(folder, tmp_path, input_ids=ids, attention_mask=MASK)
    places = "embeddings.position_embeddings.weight"
    bert = write_bert(
        tmp_path / "bert",
        CONFIG | {"max_position_embeddings": 5},
        weights | {places: weights[places][positions]},
    )
    expected = token_embeddings(bert, tmp_path, input_ids=ids, attention_mask=MASK)
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_prefix_and_head_of_a_language_model(tmp_path: Path) -> None:
    """A checkpoint with the prefix roberta. and a language model's head is understood."""
    config = CONFIG | {"model_type": "xlm-roberta"}
    weights = {f"roberta.{name}": array for name, array in bert_weights(config).items()}
    weights["lm_head.bias"] = np.ones(7, np.float32)
    open_source(write_bert(tmp_path / "model", config, weights)).encoder.place()


@pytest.mark.parametrize(
    ("key", "value"),
    [("pad_token_id", None), ("pad_token_id", -1), ("is_decoder", True), ("hidden_act", "mish")],
)
def test_refuses_what_it_does_not_compute(key: str, value: object, tmp_path: Path) -> None:
    """A configuration outside the formula is an error that names the key."""
    config = CONFIG | {"model_type": "roberta"}
    folder = write_bert(tmp_path / "model", config | {key: value}, bert_weights())
    with pytest.raises(InputError, match=f"config.json: {key}: "):
        open_source(folder)
