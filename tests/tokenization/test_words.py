"""The words of texts, beside what tokenizers itself says of them."""

from __future__ import annotations

import json

import pytest
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from polybake.tokenization.tokenizer import BakedTokenizer
from polybake.tokenization.words import Chunk, Rule, Word, WordRule, chunks, stretches, word_rule

LETTERS = "abcdefghijklmnopqrstuvwxyz"
LONG = 1000


def baked(made: Tokenizer, max_length: int = LONG) -> BakedTokenizer:
    data = json.loads(made.to_str())
    data["truncation"] = {
        "direction": "Right",
        "max_length": max_length,
        "strategy": "LongestFirst",
        "stride": 0,
    }
    return BakedTokenizer(json.dumps(data), max_length, 0, "right")


def wordpiece(max_length: int = LONG) -> BakedTokenizer:
    tokens = ["[UNK]", "##s", *".,!'-", *LETTERS, *(f"##{one}" for one in LETTERS)]
    made = Tokenizer(models.WordPiece({one: n for n, one in enumerate(tokens)}, unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer()
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return baked(made, max_length)


def byte_level(normalizer: object = None) -> BakedTokenizer:
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    made = Tokenizer(models.BPE({one: n for n, one in enumerate(alphabet)}, []))
    if normalizer is not None:
        made.normalizer = normalizer
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    return baked(made)


def metaspace() -> BakedTokenizer:
    pieces = [("<unk>", 0.0), ("\u2581", -2.0), ("\u2581the", -1.0), *((c, -3.0) for c in LETTERS)]
    made = Tokenizer(models.Unigram(pieces, unk_id=0))
    made.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()]
    )
    return baked(made)


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
        ("metaspace", " \t ", []),
        ("metaspace", "", []),
    ],
)
def test_where_words_end(name: str, text: str, expected: list[str]) -> None:
    """At gaps, and where the tokenizer ends them; accents and removed characters stay within."""
    tokenizer, rule = TOKENIZERS[name]
    assert words_of(text, chunks(tokenizer, text, rule)) == expected


@pytest.mark.parametrize("text", [" " * 10**6, "a" + "\n" * 10**6, "\t" * 10**6 + "a"])
def test_long_gaps_take_no_time(text: str) -> None:
    """A search that begins anew at each of a million blanks would not end today."""
    assert "".join(stretches(text)) in (text, "")


def test_tokens_of_gaps_belong_to_no_word() -> None:
    """Unless the tokenizer begins a word with them, as it does with a single space."""
    text = "a\n\n b  "
    first, second = chunks(byte_level(), text, "gaps")
    assert first == Chunk(0, 1, 1, (Word(0, 1, 0, 1),))
    assert second == Chunk(1, 7, 6, (Word(4, 5, 2, 2),))
    (lone,) = chunks(metaspace(), "x", "gaps")
    assert lone.words == (Word(0, 1, 0, 2),)


def test_a_chunk_that_is_too_long_is_cut() -> None:
    """Its words end where its tokens do, or with it."""
    (chunk,) = chunks(wordpiece(max_length=3), "a,b,c", "continuation")
    assert chunk == Chunk(0, 5, 3, (Word(0, 1, 0, 1), Word(1, 2, 1, 1), Word(2, 5, 2, 1)))


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
