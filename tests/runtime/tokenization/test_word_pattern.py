"""Patterns of many words."""

from __future__ import annotations

import pytest
from tokenizers import Regex, pre_tokenizers

from polybake.runtime.tokenization.word_pattern import any_of, character_class

WORDS = ["a", "abc", "abd", "b.c", "[x]", "Σ", "👩"]


def removed(pattern: str, text: str) -> list[str]:
    """What is left of a text between the matches, as the tokenizers' own engine finds them."""
    split = pre_tokenizers.Split(Regex(pattern), "removed")
    return [piece for piece, _ in split.pre_tokenize_str(text)]


@pytest.mark.parametrize("word", WORDS)
def test_matches_each_word(word: str) -> None:
    """Every word is one match, whatever its characters mean in a pattern."""
    assert removed(rf"\A{any_of(WORDS)}\z", word) == []


@pytest.mark.parametrize("other", ["ab", "bxc", "x", "abcd", "ac"])
def test_matches_nothing_else(other: str) -> None:
    """Beginnings, longer words and what a dot would stand for do not match as a whole."""
    assert removed(rf"\A{any_of(WORDS)}\z", other) == [other]


def test_takes_the_longest_word() -> None:
    """The longer of two words that begin at one place matches."""
    assert removed(any_of(["a", "ab"]), "xabx") == ["x", "x"]


def test_a_class_matches_its_characters_alone() -> None:
    """Characters with a meaning in a class stand for themselves."""
    assert removed(character_class("^-]a"), "z^y-x]wav\\") == ["z", "y", "x", "w", "v\\"]
