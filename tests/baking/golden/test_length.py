from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from polybake.baking.golden.length import text_of_length

TOKENIZERS: dict[str, Callable[[str], int]] = {
    "characters": lambda text: len(text) + 2,
    "bytes": lambda text: len(text.encode()) + 1,
    "words": lambda text: len(text.split()) + 2,
    "words and punctuation": lambda text: len(re.findall(r"\w+|[^\w\s]", text)) + 2,
    "pieces of three letters": lambda text: len(re.findall(r"\w{1,3}|[^\w\s]", text)) + 2,
}


@pytest.mark.parametrize("name", TOKENIZERS)
@pytest.mark.parametrize("tokens", [5, 16, 128, 256, 257, 512])
def test_text_has_exactly_the_tokens_asked_for(name: str, tokens: int) -> None:
    """The text has exactly the requested number of tokens, with every tokenizer."""
    token_count = TOKENIZERS[name]
    assert token_count(text_of_length(tokens, token_count)) == tokens


def test_text_stays_below_a_length_that_cannot_be_met() -> None:
    """A tokenizer that gives four tokens a letter gets the longest text that fits."""
    assert text_of_length(6, lambda text: 4 * len(text)) == "A"


def test_text_of_no_more_than_the_special_tokens_is_empty() -> None:
    """A window that the special tokens fill leaves no room for words."""
    assert text_of_length(2, TOKENIZERS["words"]) == ""


def test_text_does_not_repeat_itself_within_256_words() -> None:
    """No stretch of eight words occurs twice in a window of the usual length."""
    words = text_of_length(256, TOKENIZERS["words"]).split()
    stretches = [tuple(words[start : start + 8]) for start in range(len(words) - 7)]
    assert len(set(stretches)) == len(stretches) > 200
