"""The texts of golden cases: which there are, and those of a given number of tokens."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable

import pytest

from polybake.baking.golden.length import text_of_length
from polybake.baking.golden.texts import FLAGS, CaseText, builtin_cases, user_cases

PROMPTS = {"query": "query: ", "Retrieval-query": "task: search | query: ", "document": ""}


def token_count(text: str) -> int:
    """Words and punctuation, with two special tokens, as WordPiece would count known words."""
    return len(re.findall(r"\w+|[^\w\s]", text)) + 2


def built_in(prompts: dict[str, str]) -> list[CaseText]:
    return builtin_cases(prompts=prompts, token_count=token_count, max_length=64)


@pytest.fixture(scope="module")
def cases() -> dict[str, CaseText]:
    return {case.id: case for case in built_in(PROMPTS)}


def test_each_case_has_an_id_a_reason_and_known_flags(cases: dict[str, CaseText]) -> None:
    """An id can stand in a test's and a file's name; the most telling come first."""
    assert built_in(PROMPTS) == list(cases.values())
    assert list(cases)[:5] == ["plain", "empty", "batch-of-seven", "max-length", "one-over"]
    assert all(re.fullmatch("[a-z0-9]+(-[a-z0-9]+)*", name) for name in cases)
    reasons = [case.why for case in cases.values()]
    assert all(reason[0].isupper() and reason.endswith(".") for reason in reasons)
    assert len(set(reasons)) == len(reasons)
    assert {flag for case in cases.values() for flag in case.flags} == FLAGS.keys() - {"user"}
    texts = sum(len(case.texts) for case in cases.values())
    assert 40 <= texts <= 60, "they fit into a model file"


def test_ids_stay_unique_when_prompts_differ_in_their_signs_only() -> None:
    """Prompt names that would make one id make two."""
    found = built_in({"a_b": "x ", "a-b": "y ", "\u0447": "z "})
    ids = [case.id for case in found if case.id.startswith("prompt-") and case.texts[0]]
    assert ids == ["prompt-1-a-b", "prompt-2-a-b", "prompt-3", "prompt-truncates"]


@pytest.mark.parametrize(
    ("case", "expected"), [("max-length", 64), ("one-over", 65), ("prompt-truncates", 64)]
)
def test_window_is_filled_to_the_token(
    cases: dict[str, CaseText], case: str, expected: int
) -> None:
    """One text has exactly as many tokens as the model takes, the other one more."""
    assert token_count(cases[case].texts[0]) == expected


def test_each_prompt_has_a_case(cases: dict[str, CaseText]) -> None:
    """Every prompt is used, one of them on an empty and on a truncated text."""
    prompts = Counter(case.prompt for case in cases.values() if case.prompt is not None)
    assert prompts == {"query": 3, "Retrieval-query": 1, "document": 1}
    assert cases["prompt-empty-text"].texts == ("",)
    assert {case.prompt for case in built_in({})} == {None}


def test_a_batch_has_seven_texts_of_mixed_length(cases: dict[str, CaseText]) -> None:
    """Short, empty and long texts go through together."""
    lengths = [len(text) for text in cases["batch-of-seven"].texts]
    assert len(lengths) == 7
    assert min(lengths) == 0
    assert max(lengths) > 4 * sorted(lengths)[3]
    assert lengths != sorted(lengths)


def test_what_breaks_programs_occurs(cases: dict[str, CaseText]) -> None:
    """NUL, zero-width characters, line breaks, scripts, and what languages write differently."""
    whole = "".join(text for case in cases.values() for text in case.texts)
    assert {*"\0\u200b\u200d\u00ad\ufeff\t\n\r\u2028\u0085"} <= {*whole}
    scripts = {unicodedata.name(letter).split()[0] for letter in whole if letter.isalpha()}
    asian = {"DEVANAGARI", "THAI", "HIRAGANA", "HANGUL", "CJK"}
    assert scripts >= {"ARABIC", "HEBREW", "CYRILLIC", "GREEK"} | asian
    composed, decomposed = cases["composed"].texts
    assert unicodedata.is_normalized("NFC", composed)
    assert unicodedata.normalize("NFD", composed) == decomposed != composed
    text = cases["final-sigma"].texts[0]
    assert text.lower() != "".join(map(str.lower, text))
    assert any(ord(character) > 0xFFFF for character in "".join(cases["emoji"].texts))
    lengths = [len(word) for word in cases["long-word"].texts]
    assert min(lengths) <= 100 < max(lengths), "WordPiece takes no longer ones"


def test_user_texts_are_dealt_to_batches_of_mixed_length() -> None:
    """Every text occurs once; each case has short and long ones, in the file's order."""
    texts = ["x" * (7 * index % 20 + 1) for index in range(20)]
    found = user_cases(texts)
    assert [case.id for case in found] == ["user-001", "user-002", "user-003"]
    assert sorted(text for case in found for text in case.texts) == sorted(texts)
    for case in found:
        lengths = [len(text) for text in case.texts]
        assert len(lengths) <= 8
        assert max(lengths) - min(lengths) >= 15
        assert [texts.index(text) for text in case.texts] == sorted(map(texts.index, case.texts))
    assert user_cases([]) == []


TOKENIZERS: dict[str, Callable[[str], int]] = {
    "characters": lambda text: len(text) + 2,
    "bytes": lambda text: len(text.encode()) + 1,
    "words": lambda text: len(text.split()) + 2,
    "words and punctuation": token_count,
    "pieces of three letters": lambda text: len(re.findall(r"\w{1,3}|[^\w\s]", text)) + 2,
}


@pytest.mark.parametrize("name", TOKENIZERS)
def test_text_has_exactly_the_tokens_asked_for(name: str) -> None:
    """The text has exactly the requested number of tokens, with every tokenizer."""
    for tokens in (5, 16, 128, 256, 257, 512):
        assert TOKENIZERS[name](text_of_length(tokens, TOKENIZERS[name])) == tokens


def test_text_of_a_length_that_cannot_be_met() -> None:
    """A tokenizer that gives four tokens a letter, and a window that special tokens fill."""
    assert text_of_length(6, lambda text: 4 * len(text)) == "A"
    assert text_of_length(2, TOKENIZERS["words"]) == ""


def test_text_does_not_repeat_itself_within_256_words() -> None:
    """No stretch of eight words occurs twice in a window of the usual length."""
    words = text_of_length(256, TOKENIZERS["words"]).split()
    stretches = [tuple(words[start : start + 8]) for start in range(len(words) - 7)]
    assert len(set(stretches)) == len(stretches) > 200
