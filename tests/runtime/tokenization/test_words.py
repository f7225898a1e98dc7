"""The words of texts, the rule by which they end, and the windows of long texts."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, normalizers, pre_tokenizers

from models.folders.small_tokenizers import (
    LETTERS,
    LONG,
    baked,
    byte_level,
    metaspace,
    wordpiece,
)
from polybake.runtime.tokenization.tokenizer import BakedTokenizer
from polybake.runtime.tokenization.windows import OVERLAP, ChunkWindow, windows
from polybake.runtime.tokenization.word_rule import Rule, WordRule, word_rule
from polybake.runtime.tokenization.words import Chunk, Word, chunks, stretches

TOKENIZERS: dict[str, tuple[BakedTokenizer, Rule]] = {
    "wordpiece": (wordpiece(), "continuation"),
    "bytes": (byte_level(), "gpt2"),
    "bytes, at gaps": (byte_level(), "gaps"),
    "metaspace": (metaspace(), "gaps"),
}
TEXTS = [
    "the cat",
    " Ada's cats, 12\tof them!\r\n\nAll - so it 's said. ",
    "caf\u00e9 cafe\u0301 \u017a\u0328\u0307 nai\u0308ve",
    "\u6771\u4eac\u306f\u96e8 \U0001f469\u200d\U0001f680 \U0001d50a\U0001d52c",
    "a\u00a0b c\u3000",
    "x\x00y \x00 z\u200b",
]


def words_of(text: str, found: list[Chunk]) -> list[str]:
    return [text[word.start : word.end] for chunk in found for word in chunk.words]


@pytest.mark.parametrize("name", TOKENIZERS)
@pytest.mark.parametrize("text", TEXTS)
def test_tokens_of_chunks_are_those_of_the_text(name: str, text: str) -> None:
    """Chunks cover the text, and a word's tokens are those whose characters it has."""
    tokenizer, rule = TOKENIZERS[name]
    found = chunks(tokenizer, text, LONG, rule)
    assert "".join(stretches(text)) == text
    assert [text[chunk.start : chunk.end] for chunk in found] == stretches(text)
    encoding = tokenizer.untruncated.encode(text, add_special_tokens=False)
    assert sum(chunk.tokens for chunk in found) == len(encoding.ids)
    before = 0
    for chunk in found:
        for word in chunk.words:
            for token in range(before + word.first, before + word.first + word.tokens):
                start, end = encoding.offsets[token]
                assert start < chunk.end
                assert end >= word.start  # a gap may be a token of the word
        before += chunk.tokens


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("wordpiece", "Ada's cats, so", ["Ada", "'", "s", "cats", ",", "so"]),
        ("wordpiece", "cafe\u0301s \u6771\u4eac", ["cafe\u0301s", "\u6771", "\u4eac"]),
        ("wordpiece", "a\u00a0b \u00a0 c", ["a", "b", "c"]),
        ("wordpiece", "x\x00y \x00 z\u200b", ["x\x00y", "z\u200b"]),
        ("bytes", "Ada's cats, 12b", ["Ada", "'s", "cats", ",", "12", "b"]),
        ("bytes", "a\n\n  b", ["a", "b"]),
        ("bytes, at gaps", "Ada's cats,\n12b", ["Ada's", "cats,", "12b"]),
        ("metaspace", "the cat's \u6771\u4eac,", ["the", "cat's", "\u6771\u4eac,"]),
        ("wordpiece", "cat\u202c cat\ufe0f", ["cat\u202c", "cat\ufe0f"]),
        ("metaspace", "\ufeffcat", ["\ufeffcat"]),
        ("metaspace", " \t ", []),
        ("metaspace", "", []),
    ],
)
def test_where_words_end(name: str, text: str, expected: list[str]) -> None:
    """Words end at gaps and where the tokenizer ends them; accents and dropped characters stay."""
    tokenizer, rule = TOKENIZERS[name]
    assert words_of(text, chunks(tokenizer, text, LONG, rule)) == expected


@pytest.mark.parametrize("text", [" " * 10**6, "a" + "\n" * 10**6, "\t" * 10**6 + "a"])
def test_long_gaps_take_no_time(text: str) -> None:
    """A search that begins anew at each of a million blanks would not end today."""
    assert "".join(stretches(text)) in (text, "")


def test_tokens_of_gaps_belong_to_no_word() -> None:
    """A gap's token belongs to a word only if the tokenizer begins the word with it."""
    text = "a\n\n b  "
    first, second = chunks(byte_level(), text, LONG, "gaps")
    assert first == Chunk(0, 1, 1, (Word(0, 1, 0, 1),))
    assert second == Chunk(1, 7, 6, (Word(4, 5, 2, 2),))
    (lone,) = chunks(metaspace(), "x", LONG, "gaps")
    assert lone.words == (Word(0, 1, 0, 2),)


def test_a_chunk_that_is_too_long_is_cut() -> None:
    """Its pieces fit, with context unless each is a word, however the tokenizer cuts."""
    found = chunks(wordpiece(max_length=18), f"a {LETTERS[:9] + ',' * 16} b", 16, "continuation")
    assert [(chunk.start, chunk.end, chunk.inner) for chunk in found] == [
        (0, 1, None),
        (1, 16, 1),
        (12, 27, 14),
        (27, 29, None),
    ]
    (whole,) = chunks(metaspace(), "abcd", 6, "gaps")
    assert (whole.inner, whole.tokens) == (None, 5)
    first, second = chunks(metaspace(), "abcd", 5, "gaps")
    assert first == Chunk(0, 2, 3, (Word(0, 2, 0, 3),), 0)
    assert second == Chunk(2, 4, 3, (Word(2, 4, 0, 3),), 2)


def test_a_character_cannot_be_cut() -> None:
    """A character with more tokens than there is room is a piece by itself."""
    found = chunks(byte_level(), "a\U0001f680", 2, "gpt2")
    assert [(chunk.start, chunk.tokens) for chunk in found] == [(0, 1), (1, 4)]


@given(
    st.sampled_from([*TOKENIZERS]),
    st.text("ab,\u3042\u6771\U0001f680 \n", max_size=200),
    st.integers(4, 40),
)
def test_pieces_make_up_their_chunk(name: str, text: str, room: int) -> None:
    """Pieces together are the chunk, and each has fewer tokens than there is room."""
    tokenizer, rule = TOKENIZERS[name]
    found = chunks(tokenizer, text, room, rule)
    cut = [chunk.first for chunk in found] + [chunk.end for chunk in found[-1:]]
    assert "".join(text[one:other] for one, other in pairwise(cut)) == "".join(stretches(text))
    for chunk, first, last in zip(found, cut, cut[1:], strict=False):
        assert chunk.tokens < room or last - first == 1
        assert chunk.start <= first < last <= chunk.end
        for word in chunk.words:
            assert chunk.start <= word.start < word.end <= chunk.end
            assert word.first + word.tokens <= chunk.tokens


def without_regex() -> BakedTokenizer:
    made = Tokenizer.from_str(byte_level().json)
    made.pre_tokenizer = pre_tokenizers.ByteLevel(use_regex=False)
    return baked(made)


@pytest.mark.parametrize(
    ("tokenizer", "coarse", "fine"),
    [
        (wordpiece(), *[WordRule("continuation", "##")] * 2),
        (byte_level(), WordRule("gaps"), WordRule("gpt2")),
        (byte_level(normalizers.NFC()), WordRule("gaps"), WordRule("gpt2", composed=True)),
        (byte_level(normalizers.NFKC()), *[WordRule("gaps")] * 2),
        (without_regex(), *[WordRule("gaps")] * 2),
        (metaspace(), *[WordRule("gaps")] * 2),
    ],
)
def test_the_rule_of_a_tokenizer(
    tokenizer: BakedTokenizer, coarse: WordRule, fine: WordRule
) -> None:
    """Every client must find the same words; where not all could, words end at gaps."""
    assert word_rule(tokenizer, finest=False) == coarse
    assert word_rule(tokenizer, finest=True) == fine


def of(*tokens: int) -> list[Chunk]:
    return [Chunk(place, place + 1, count, ()) for place, count in enumerate(tokens)]


def pieces(*tokens: int) -> list[Chunk]:
    return [chunk._replace(inner=chunk.start) for chunk in of(*tokens)]


@pytest.mark.parametrize(
    ("chunks", "room", "expected"),
    [
        ([], 10, []),
        (of(2, 3, 5), 10, [(0, 3)]),
        (of(*[1] * 10), 6, [(0, 6), (3, 9), (6, 10)]),
        (of(4, 4, 4), 8, [(0, 2), (1, 3)]),
        (of(5, 5, 5), 8, [(0, 1), (1, 2), (2, 3)]),
        (of(1, 30, 1), 6, [(0, 1), (1, 2), (2, 3)]),
        (of(*[1] * 5, 6, 1), 6, [(0, 5), (5, 6), (6, 7)]),
        ([*of(1, 1), *pieces(2, 2), *of(1)], 10, [(0, 2), (2, 3), (3, 4), (4, 5)]),
    ],
)
def test_windows_overlap_by_half_their_room(
    chunks: list[Chunk], room: int, expected: list[tuple[int, int]]
) -> None:
    """Of whole chunks; a long one, and a piece, which would have other tokens, stand alone."""
    assert windows(chunks, room) == [ChunkWindow(*window) for window in expected]


@given(st.lists(st.integers(0, 12)), st.integers(1, 600))
def test_every_chunk_is_in_a_window(tokens: list[int], room: int) -> None:
    """Windows keep the order, fit unless one chunk is too long, and overlap within limits."""
    found = windows(of(*tokens), room)
    assert {place for one in found for place in range(*one)} == {*range(len(tokens))}
    for one in found:
        assert sum(tokens[one.first : one.last]) <= room or one.last == one.first + 1
    for before, after in pairwise(found):
        assert before.first < after.first <= before.last < after.last
        assert not {*range(*after)} <= {*range(*before)}
        assert sum(tokens[after.first : before.last]) <= min(OVERLAP, room // 2)
