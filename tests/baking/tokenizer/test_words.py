"""The words of texts, and the rule by which they end."""

from __future__ import annotations

import pytest
from tokenizers import Tokenizer, normalizers, pre_tokenizers

from models.folders.small_tokenizers import baked, byte_level, metaspace, wordpiece
from polybake.baking.tokenizer.words import (
    Chunk,
    Rule,
    Word,
    WordRule,
    chunks,
    stretches,
    word_rule,
)
from polybake.runtime.tokenizer import BakedTokenizer

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
    found = chunks(tokenizer, text, rule)
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
    assert words_of(text, chunks(tokenizer, text, rule)) == expected


@pytest.mark.parametrize("text", [" " * 10**6, "a" + "\n" * 10**6, "\t" * 10**6 + "a"])
def test_long_gaps_take_no_time(text: str) -> None:
    """A search that begins anew at each of a million blanks would not end today."""
    assert "".join(stretches(text)) in (text, "")


def test_tokens_of_gaps_belong_to_no_word() -> None:
    """A gap's token belongs to a word only if the tokenizer begins the word with it."""
    text = "a\n\n b  "
    first, second = chunks(byte_level(), text, "gaps")
    assert first == Chunk(0, 1, 1, (Word(0, 1, 0, 1),))
    assert second == Chunk(1, 7, 6, (Word(4, 5, 2, 2),))
    (lone,) = chunks(metaspace(), "x", "gaps")
    assert lone.words == (Word(0, 1, 0, 2),)


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
