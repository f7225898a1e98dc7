"""The whitespace tokenizer, against sentence-transformers' rules written out for single words."""

from __future__ import annotations

import string
from pathlib import Path

import numpy as np
import pytest

from polybake.base.files.model_folder import ModelFolder
from polybake.base.modelfile.manifest import NO_LIMIT
from polybake.errors import InputError
from polybake.runtime.tokenization.word_tokenizer import Words, bake_word_tokenizer

HERE = ModelFolder.at(Path())
LETTERS = "abBAΣσς'.-^[]\\*İi\u0307ßẞǄéÉ\u0301_Ⅷ\u212a👩\u200d1"  # noqa: RUF001
SPACES = " \t\n\u0085\u3000\x1c\u00a0\u2028"


def ids_by_rule(words: Words, text: str) -> list[int]:
    """The ids of a text, one lookup at a time.

    Source: sentence-transformers ``WhitespaceTokenizer.tokenize``.
    """
    ids = {word: number for number, word in enumerate(words.vocabulary)}
    found = []
    for word in (text.lower() if words.lowercase else text).split():
        bare = word.strip(string.punctuation)
        for form in (word, bare, bare.lower()):
            if form in words.stop_words:
                break
            if form in ids:
                found.append(ids[form])
                break
    return found


def drawn(source: np.random.Generator) -> str:
    """A word of one to four letters."""
    return "".join(source.choice(list(LETTERS), source.integers(1, 5)))


def texts_of(words: Words, seed: int) -> list[str]:
    """Random texts, and every word in quotes, in capitals, and between white space."""
    source = np.random.default_rng(seed)
    mixed = [
        "".join(drawn(source) + str(source.choice(list(SPACES))) for _ in range(8))
        for _ in range(40)
    ]
    decorated = [f"'{word}'. {word.upper()}\u2028{word}\u200b {word}!" for word in words.vocabulary]
    return [*mixed, *decorated, "", *SPACES, "...", "Σ ΑΣ ΑΣ' ΑΣ-Α"]  # noqa: RUF001


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("lowercase", [True, False])
def test_gives_the_ids_of_the_rules(seed: int, lowercase: bool) -> None:
    """A word is tried as it stands, without punctuation and in lower case, as in the library."""
    source = np.random.default_rng(100 + seed)
    names = [drawn(source) for _ in range(70)]
    words = Words(tuple(names[:60]), frozenset(names[60:]), lowercase)
    texts = texts_of(words, seed)
    expected = [ids_by_rule(words, text) for text in texts]
    assert any(expected)
    assert bake_word_tokenizer(HERE, words).encode(texts) == expected


def test_capitals_and_punctuation_count_where_they_are_known() -> None:
    """``U.S.`` is no ``u.s``, and ``BOAT`` no ``boat``, where the vocabulary has both."""
    words = Words(("boat", "BOAT", "U.S.", "u.s", "us", ".", "the"), frozenset(["The"]))
    baked = bake_word_tokenizer(HERE, words)
    assert baked.encode(["boat Boat, 'BOAT'", "U.S. (U.S.) u.s.", ". .. the The THE. us"]) == [
        [0, 0, 1],
        [2, 3, 3],
        [5, 6, 6, 4],
    ]


def test_the_limit_counts_known_words() -> None:
    """Words that are dropped take no place."""
    words = Words(("a", "b"))
    assert bake_word_tokenizer(HERE, words, max_length=2).encode(["x a y b a"]) == [[0, 1]]
    assert bake_word_tokenizer(HERE, words).max_length == NO_LIMIT


def test_the_last_of_equal_words_counts() -> None:
    """A word that stands twice has the id of its last place."""
    assert bake_word_tokenizer(HERE, Words(("a", "b", "a"))).encode(["a b"]) == [[2, 1]]


def test_refuses_more_spellings_than_it_can_mark() -> None:
    """32 words that are equal in lower case cannot be told apart."""
    spellings = {
        "".join(c.upper() if number >> place & 1 else c for place, c in enumerate("boats"))
        for number in range(32)
    }
    with pytest.raises(InputError, match="save it with do_lower_case"):
        bake_word_tokenizer(HERE, Words(tuple(spellings)))
