"""The arrays that a model's inputs are fed."""

from __future__ import annotations

import numpy as np

from polybake.base.modelfile.manifest import Contract, Input, Output
from polybake.runtime.feeds import feeds

CONTRACT = Contract(
    vocab_size=1000,
    inputs=(
        Input(name="ids", feed="input_ids"),
        Input(name="mask", feed="attention_mask"),
        Input(name="types", feed="token_type_ids"),
        Input(name="places", feed="position_ids"),
        Input(name="prompt", feed="prompt_value", values={"": 0, "query": 4}),
    ),
    output=Output(name="sentence_embedding", dimension=3),
    max_length=8,
    pad_id=9,
)
ROWS = [[5, 6, 7], [8]]


def test_feeds_every_input() -> None:
    """Each feed follows the contract, with padding on the right."""
    fed = feeds(CONTRACT, ROWS, "query")
    assert {name: array.tolist() for name, array in fed.items()} == {
        "ids": [[5, 6, 7], [8, 9, 9]],
        "mask": [[1, 1, 1], [1, 0, 0]],
        "types": [[0, 0, 0], [0, 0, 0]],
        "places": [[0, 1, 2], [0, 0, 0]],
        "prompt": [4],
    }
    assert {array.dtype for array in fed.values()} == {np.dtype(np.int64)}
    assert feeds(CONTRACT, ROWS)["prompt"].tolist() == [0]


def test_feeds_padding_on_the_left() -> None:
    """Padding on the left ends a row with its tokens, and positions start at the first one."""
    fed = feeds(CONTRACT.model_copy(update={"pad_side": "left"}), ROWS)
    assert fed["ids"].tolist() == [[5, 6, 7], [9, 9, 8]]
    assert fed["mask"].tolist() == [[1, 1, 1], [0, 0, 1]]
    assert fed["places"].tolist() == [[0, 1, 2], [0, 0, 0]]


def test_pads_further_on_request() -> None:
    """A length beyond the longest row is padding; one below it changes nothing."""
    assert feeds(CONTRACT, ROWS, length=5)["mask"].tolist() == [[1, 1, 1, 0, 0], [1, 0, 0, 0, 0]]
    assert feeds(CONTRACT, ROWS, length=2)["ids"].shape == (2, 3)
