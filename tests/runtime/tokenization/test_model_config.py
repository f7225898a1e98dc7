"""The limit that a model's positions set."""

from __future__ import annotations

import pytest

from polybake.runtime.tokenization.model_config import ModelConfig


@pytest.mark.parametrize(
    ("config", "rows", "held"),
    [
        ({"model_type": "bert", "max_position_embeddings": 512, "pad_token_id": 0}, 512, 512),
        ({"model_type": "roberta", "max_position_embeddings": 514, "pad_token_id": 1}, 514, 512),
        ({"model_type": "camembert", "max_position_embeddings": 514}, 514, 512),
        ({"model_type": "xlm-roberta", "max_position_embeddings": 30, "pad_token_id": 4}, 30, 25),
        (
            {
                "model_type": "xlm-roberta",
                "max_position_embeddings": 30,
                "position_embedding_type": "rotary",
            },
            30,
            30,
        ),
        ({"model_type": "xlnet", "max_position_embeddings": -1}, None, None),
        ({"model_type": "t5"}, None, None),
    ],
)
def test_rows_before_the_first_token_hold_none(
    config: dict[str, object], rows: int | None, held: int | None
) -> None:
    """Where positions start behind the padding id, the rows up to it are lost to tokens."""
    read = ModelConfig.model_validate(config)
    assert (read.position_rows, read.tokens_held) == (rows, held)
