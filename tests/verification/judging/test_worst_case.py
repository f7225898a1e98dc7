"""The excerpt of a row that differs."""

from __future__ import annotations

import json

import pytest

from polybake.verification.judging.worst_case import (
    CHARACTERS,
    TOKENS,
    TokenPair,
    read_vocabulary,
    shown_text,
    side_by_side,
)


def test_a_lost_token_moves_no_other() -> None:
    """Tokens of both rows share a line, even behind a lost token."""
    vocabulary = {2: "[CLS]", 7: "a", 8: "b", 3: "[SEP]"}
    assert side_by_side([2, 7, 8, 3], [2, 8, 3], vocabulary) == (
        TokenPair("[CLS] 2", "[CLS] 2"),
        TokenPair("a 7", None),
        TokenPair("b 8", "b 8"),
        TokenPair("[SEP] 3", "[SEP] 3"),
    )


def test_a_long_row_is_shown_where_it_differs() -> None:
    """The first difference is among the tokens that are shown, with some before it."""
    row = list(range(500))
    pairs = side_by_side(row, [*row[:400], 999, *row[401:]], {})
    assert len(pairs) == TOKENS
    assert pairs[2:4] == (TokenPair("? 399", "? 399"), TokenPair("? 400", "? 999"))


def test_a_row_without_end_takes_no_time() -> None:
    """Aligning takes quadratic time, which would be a minute for these rows."""
    pairs = side_by_side([1, 2, 3] * 100, [1, 2, *[5, 6] * 500_000], {})
    assert pairs[2] == TokenPair("? 3", "? 5")


def test_long_texts_are_cut() -> None:
    """The texts of a pair are cut one by one."""
    assert shown_text("short") == ("short",)
    assert [len(part) for part in shown_text(("x" * 5000, "y"))] == [CHARACTERS + 1, 1]


@pytest.mark.parametrize(
    "vocabulary",
    [{"[UNK]": 0, "a": 1}, [["[UNK]", 0.0], ["a", -1.5]]],
    ids=["wordpiece", "unigram"],
)
def test_tokens_are_read_with_those_added(vocabulary: object) -> None:
    """Vocabularies of both forms in tokenizer.json are read, with added tokens."""
    tokenizer = {"model": {"vocab": vocabulary}, "added_tokens": [{"id": 2, "content": "<mark>"}]}
    assert read_vocabulary(json.dumps(tokenizer)) == {0: "[UNK]", 1: "a", 2: "<mark>"}


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"model": 1}', '{"model": {"vocab": [1]}}'])
def test_another_tokenizer_has_no_tokens(text: str) -> None:
    """A tokenizer of unknown form leaves tokens out and does not stop the report."""
    assert read_vocabulary(text) == {}
