from __future__ import annotations

import re
import unicodedata
from collections import Counter
from pathlib import Path

import pytest

from polybake.baking.golden.texts import FLAGS, CaseText, builtin_cases, read_texts, user_cases
from polybake.errors import InputError

PROMPTS = {"query": "query: ", "Retrieval-query": "task: search | query: ", "document": ""}


def token_count(text: str) -> int:
    """Words and punctuation, with two special tokens, as WordPiece would count known words."""
    return len(re.findall(r"\w+|[^\w\s]", text)) + 2


@pytest.fixture
def cases() -> dict[str, CaseText]:
    found = builtin_cases(prompts=PROMPTS, token_count=token_count, max_length=64)
    return {case.id: case for case in found}


def texts_of(cases: dict[str, CaseText]) -> list[str]:
    return [text for case in cases.values() for text in case.texts]


def test_ids_are_unique_and_plain(cases: dict[str, CaseText]) -> None:
    """A case's id can stand in a test's name and in a file's name."""
    found = builtin_cases(prompts=PROMPTS, token_count=token_count, max_length=64)
    assert len(found) == len(cases)
    assert all(re.fullmatch("[a-z0-9]+(-[a-z0-9]+)*", name) for name in cases)


def test_ids_stay_unique_when_prompts_differ_in_their_signs_only() -> None:
    """Prompt names that would make one id make two."""
    prompts = {"a_b": "x ", "a-b": "y ", "\u0447": "z "}
    found = builtin_cases(prompts=prompts, token_count=token_count, max_length=64)
    ids = [case.id for case in found if case.id.startswith("prompt-") and case.texts[0]]
    assert ids == ["prompt-1-a-b", "prompt-2-a-b", "prompt-3", "prompt-truncates"]


def test_every_case_says_in_one_sentence_why_it_exists(cases: dict[str, CaseText]) -> None:
    """The reason is a sentence, and no two cases share one."""
    reasons = [case.why for case in cases.values()]
    assert all(reason[0].isupper() and reason.endswith(".") for reason in reasons)
    assert len(set(reasons)) == len(reasons)


def test_flags_are_known(cases: dict[str, CaseText]) -> None:
    """Every flag that a case carries is explained."""
    flags = {flag for case in cases.values() for flag in case.flags}
    assert flags == FLAGS.keys() - {"user"}


def test_order_does_not_change(cases: dict[str, CaseText]) -> None:
    """The cases come in one order of priority, the most telling first."""
    again = builtin_cases(prompts=PROMPTS, token_count=token_count, max_length=64)
    assert again == list(cases.values())
    assert list(cases)[:5] == ["plain", "empty", "batch-of-seven", "max-length", "one-over"]


def test_number_of_texts_stays_small(cases: dict[str, CaseText]) -> None:
    """The texts fit into a model file at several kilobytes each."""
    assert 40 <= len(texts_of(cases)) <= 60


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


def test_a_model_without_prompts_has_no_prompt_cases() -> None:
    """No case names a prompt that the model lacks."""
    found = builtin_cases(prompts={}, token_count=token_count, max_length=64)
    assert {case.prompt for case in found} == {None}


def test_a_batch_has_seven_texts_of_mixed_length(cases: dict[str, CaseText]) -> None:
    """Short, empty and long texts go through together."""
    lengths = [len(text) for text in cases["batch-of-seven"].texts]
    assert len(lengths) == 7
    assert min(lengths) == 0
    assert max(lengths) > 4 * sorted(lengths)[3]
    assert lengths != sorted(lengths)


@pytest.mark.parametrize(
    "character",
    ["\u0000", "\u200b", "\u200d", "\u00ad", "\ufeff", "\t", "\n", "\r", "\u2028", "\u0085"],
)
def test_characters_that_break_programs_occur(cases: dict[str, CaseText], character: str) -> None:
    """NUL, zero-width characters and every kind of line break are among the texts."""
    assert any(character in text for text in texts_of(cases))


@pytest.mark.parametrize(
    "script",
    ["ARABIC", "HEBREW", "DEVANAGARI", "THAI", "CYRILLIC", "GREEK", "HIRAGANA", "HANGUL", "CJK"],
)
def test_scripts_occur(cases: dict[str, CaseText], script: str) -> None:
    """The built-in texts alone cover the writing systems that tokenizers treat differently."""
    assert script in scripts_of("".join(texts_of(cases)))


def test_composed_and_decomposed_are_one_word_in_two_forms(cases: dict[str, CaseText]) -> None:
    """The NFC text and the NFD text differ, and normalise to each other."""
    composed, decomposed = cases["composed"].texts
    assert unicodedata.is_normalized("NFC", composed)
    assert unicodedata.is_normalized("NFD", decomposed)
    assert unicodedata.normalize("NFD", composed) == decomposed != composed


def test_a_word_ends_in_a_capital_sigma(cases: dict[str, CaseText]) -> None:
    """Lower-casing by letter and by word differ on this text."""
    text = cases["final-sigma"].texts[0]
    assert text.lower() != "".join(map(str.lower, text))


def test_characters_beyond_the_first_plane_occur(cases: dict[str, CaseText]) -> None:
    """UTF-16 needs two units for some characters."""
    assert any(ord(character) > 0xFFFF for character in "".join(cases["emoji"].texts))


def test_a_word_is_longer_than_wordpiece_takes(cases: dict[str, CaseText]) -> None:
    """One word has more than 100 characters, and one stays below."""
    lengths = [len(word) for word in cases["long-word"].texts]
    assert min(lengths) <= 100 < max(lengths)


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


def test_no_user_texts_make_no_case() -> None:
    """An empty list of texts is not an empty case."""
    assert user_cases([]) == []


# The committed texts, on which every language and the oracle are compared.


@pytest.fixture(scope="module")
def committed(repository: Path) -> dict[str, list[str]]:
    files = sorted((repository / "fixtures" / "texts").glob("*.txt"))
    return {file.stem: file.read_bytes().decode("utf-8").split("\n")[:-1] for file in files}


def scripts_of(text: str) -> set[str]:
    """The first words of the letters' Unicode names: LATIN, CYRILLIC, HANGUL, CJK and so on."""
    return {unicodedata.name(letter).split()[0] for letter in text if letter.isalpha()}


def test_there_are_200_texts_and_no_duplicate(committed: dict[str, list[str]]) -> None:
    """One text a line, 200 in all, each once, none blank or padded with spaces."""
    texts = [text for lines in committed.values() for text in lines]
    assert len(texts) == len(set(texts)) == 200
    assert all(text and text == text.strip() and "\r" not in text for text in texts)


def test_at_least_eight_scripts_have_three_texts_each(committed: dict[str, list[str]]) -> None:
    """Texts whose letters are mostly of one script cover many scripts."""
    scripts: Counter[str] = Counter()
    for text in (text for lines in committed.values() for text in lines):
        letters = [unicodedata.name(letter).split()[0] for letter in text if letter.isalpha()]
        scripts.update([Counter(letters).most_common(1)[0][0]])
    assert len([script for script, count in scripts.items() if count >= 3]) >= 12, scripts


def test_at_least_30_texts_have_more_than_256_tokens(
    committed: dict[str, list[str]], minilm: Path
) -> None:
    """Truncation is tried on many texts, not on one."""
    tokenizers = pytest.importorskip("tokenizers")
    tokenizer = tokenizers.Tokenizer.from_file(str(minilm / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    texts = [text for lines in committed.values() for text in lines]
    assert sum(len(tokenizer.encode(text).ids) > 256 for text in texts) >= 30


def test_at_least_eight_latin_texts_have_220_words(committed: dict[str, list[str]]) -> None:
    """Long windows are tried with few unknown words, too."""
    texts = [text for lines in committed.values() for text in lines]
    assert sum(len(text.split()) >= 220 and scripts_of(text) == {"LATIN"} for text in texts) >= 8


def test_no_filler_is_repeated(committed: dict[str, list[str]]) -> None:
    """No stretch of six words occurs twice, within a text or between two."""
    stretches: Counter[tuple[str, ...]] = Counter()
    for text in (text for lines in committed.values() for text in lines):
        words = text.lower().split()
        stretches.update(tuple(words[start : start + 6]) for start in range(len(words) - 5))
    assert [stretch for stretch, count in stretches.items() if count > 1] == []


def test_texts_are_read_a_line_each(tmp_path: Path) -> None:
    """Files come in the given order; a line separator inside a line splits nothing."""
    (tmp_path / "b.txt").write_text("third\n", encoding="utf-8")
    (tmp_path / "a.txt").write_text("first\n\nsecond\u2028still\n", encoding="utf-8")
    files = [tmp_path / "a.txt", tmp_path / "b.txt"]
    assert read_texts(files) == ["first", "second\u2028still", "third"]


def test_a_text_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    """A missing file and one that is not UTF-8 are errors with the remedy."""
    (tmp_path / "latin.txt").write_bytes(b"caf\xe9\n")
    for name in ("latin.txt", "none.txt"):
        with pytest.raises(InputError, match="give a UTF-8 file with one text a line"):
            read_texts([tmp_path / name])
