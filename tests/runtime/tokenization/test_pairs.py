"""Pairs of texts as the library joins them, and labels beside the words of a text as one row."""

from __future__ import annotations

import numpy as np
import pytest
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from polybake.base.modelfile.manifest import Piece
from polybake.errors import InputError
from polybake.runtime.tokenization.label_prompt import LabelledWord, LabelPrompt, labelled_words
from polybake.runtime.tokenization.pairs import for_pairs, join, join_words, pair_of
from polybake.runtime.tokenization.tokenizer import BakedTokenizer

WORDS = ["<pad>", "<s>", "</s>", *"abcdefg", ".", "</s></s>"]
BERT = processors.TemplateProcessing(
    single="<s> $A </s>", pair="<s> $A </s> $B:1 </s>:1", special_tokens=[("<s>", 1), ("</s>", 2)]
)
ROBERTA = processors.RobertaProcessing(("</s>", 2), ("<s>", 1))
ENDS = processors.TemplateProcessing(
    single="$A </s>", pair="$A </s> $B </s>", special_tokens=[("</s>", 2)]
)


def tokenizer(processor: object) -> Tokenizer:
    made = Tokenizer(
        models.WordLevel({word: number for number, word in enumerate(WORDS)}, unk_token="<pad>")
    )
    made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    made.post_processor = processor
    return made


@pytest.mark.parametrize("processor", [BERT, ROBERTA, ENDS], ids=["bert", "roberta", "ends"])
@pytest.mark.parametrize("side", ["right", "left"])
@pytest.mark.parametrize("truncate", ["longest_first", "only_second"])
@pytest.mark.parametrize("limit", [6, 7, 12])
def test_joins_as_the_library(processor: object, side: str, truncate: str, limit: int) -> None:
    """Ids and types equal the library's for pairs of every length, cut on either side or both."""
    whole = tokenizer(processor)
    pair = pair_of(whole, side).model_copy(update={"truncate": truncate})
    whole.enable_truncation(limit, strategy=truncate, direction=side)
    bare, drawn = tokenizer(processor), np.random.default_rng(0)
    compared = 0
    for _ in range(300):
        texts = [" ".join(drawn.choice(WORDS[2:], drawn.integers(10))) for _ in range(2)]
        first, second = (bare.encode(text, add_special_tokens=False).ids for text in texts)
        room = limit - sum(piece.text is None for piece in pair.pieces)
        if truncate == "only_second" and len(first) >= room < len(first) + len(second):
            with pytest.raises(InputError, match=f"has {len(first)} tokens, expected less than"):
                join(pair, first, second, limit)
            continue
        expected = whole.encode(*texts)
        assert join(pair, first, second, limit) == (expected.ids, expected.type_ids)
        compared += 1
    assert compared > 50


def baked(processor: object) -> BakedTokenizer:
    return BakedTokenizer(tokenizer(processor).to_str(), 12, 0, "right")


def test_types_say_where_answers_are_sought() -> None:
    """Only tokens of the second text have their type raised by two."""
    _, pair = for_pairs(baked(BERT), "only_second", sought=True)
    assert [piece.type_id for piece in pair.pieces] == [0, 0, 0, 3, 1]
    _, pair = for_pairs(baked(ROBERTA), "only_second", sought=True)
    assert [piece.type_id for piece in pair.pieces] == [0, 0, 0, 0, 2, 0]
    with pytest.raises(InputError, match="puts no token before a question, expected one that"):
        for_pairs(baked(ENDS), "only_second", sought=True)


def test_a_tokenizer_that_joins_otherwise_is_refused() -> None:
    """A tokenizer that puts the second text first gives rows that cannot be cut."""
    turned = processors.TemplateProcessing(single="$A", pair="$B $A", special_tokens=[])
    with pytest.raises(InputError, match="does not join two texts, expected a post-processor"):
        pair_of(tokenizer(turned), "right")


PROMPT = LabelPrompt("<L>", "<T>", 20)


def letters(*special: str) -> BakedTokenizer:
    """Letters, of which g is none."""
    known = {one: number for number, one in enumerate(["<pad>", "[", "]", *"abcdef"])}
    made = Tokenizer(models.WordLevel(known, unk_token="<pad>"))
    made.normalizer = normalizers.Replace("g", "")
    made.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    made.post_processor = processors.TemplateProcessing(
        single="[ $A ]", pair="[ $A ] $B ]", special_tokens=[("[", 1), ("]", 2)]
    )
    made.add_special_tokens([*special])
    made.enable_truncation(12)
    return BakedTokenizer(made.to_str(), 12, 0, "right")


def ids(text: str) -> list[int]:
    return [3 + "abcdef".index(letter) for letter in text]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Ada's well-known x_y", ["Ada", "'", "s", "well-known", "x_y"]),
        ("a--b -c", ["a", "-", "-", "b", "-", "c"]),
        ("\u6771\u4eac\u3001\u2460 e\u0301", ["\u6771\u4eac", "\u3001", "\u2460", "e", "\u0301"]),
        (" \t\n", []),
    ],
)
def test_the_words_of_a_text(text: str, words: list[str]) -> None:
    """Letters and numbers, joined by hyphens and low lines; else single characters."""
    (found,) = labelled_words(letters("<L>", "<T>"), [text])
    assert [text[one.start : one.end] for one in found] == words


def test_a_word_without_tokens_is_left_out() -> None:
    """It could not be found by a token."""
    found = labelled_words(letters("<L>", "<T>"), ["ab g c", ""])
    assert found == [[LabelledWord(0, 2, ids("ab")), LabelledWord(5, 6, ids("c"))], []]


def test_a_row_marks_the_first_token_of_each_word() -> None:
    """Behind the labels, within what stands around a text; the text is cut."""
    baked, pair = PROMPT.for_pairs(letters("<L>", "<T>"))
    assert pair.pieces == (
        Piece(id=1, type_id=0),
        Piece(text=0, type_id=0),
        Piece(text=1, type_id=0, words=True),
        Piece(id=2, type_id=0),
    )
    prompt = PROMPT.prompt(["ab", "c"])
    assert prompt == "<L>ab<L>c<T>"
    first = baked.encode([prompt])[0]
    words = [one.ids for one in labelled_words(baked, ["ab cde f"])[0]]
    row, types = join_words(pair, first, words, 12)
    assert row == [1, *first, *ids("abcd"), 2]
    assert types == [0] * (1 + len(first)) + [2, 0, 2, 0, 0]
    assert PROMPT.whole(letters("<L>", "<T>"))((prompt, "ab cde f")) == row


def test_a_mark_of_several_tokens_is_refused() -> None:
    """Labels have tokens before them."""
    with pytest.raises(InputError, match="makes several tokens of '<T>'"):
        PROMPT.for_pairs(letters("<L>"))
