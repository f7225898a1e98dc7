"""Labels and the words of a text as one row; tests/oracle/test_gliner.py has the library's."""

from __future__ import annotations

import pytest
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from polybake.base.modelfile.manifest import Piece
from polybake.errors import InputError
from polybake.runtime.tokenization.label_prompt import LabelledWord, LabelPrompt, labelled_words
from polybake.runtime.tokenization.pairs import join_words
from polybake.runtime.tokenization.tokenizer import BakedTokenizer

PROMPT = LabelPrompt("<L>", "<T>", 20)


def tokenizer(side: str = "Right", special: tuple[str, ...] = ("<L>", "<T>")) -> BakedTokenizer:
    """Letters, of which g is none."""
    letters = {one: number for number, one in enumerate(["<pad>", "[", "]", *"abcdef"])}
    made = Tokenizer(models.WordLevel(letters, unk_token="<pad>"))
    made.normalizer = normalizers.Replace("g", "")
    made.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    made.post_processor = processors.TemplateProcessing(
        single="[ $A ]", pair="[ $A ] $B ]", special_tokens=[("[", 1), ("]", 2)]
    )
    made.add_special_tokens([*special])
    made.enable_truncation(12, direction=side.lower())
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
    (found,) = labelled_words(tokenizer(), [text])
    assert [text[one.start : one.end] for one in found] == words


def test_a_word_without_tokens_is_left_out() -> None:
    """It could not be found by a token."""
    found = labelled_words(tokenizer(), ["ab g c", ""])
    assert found == [[LabelledWord(0, 2, ids("ab")), LabelledWord(5, 6, ids("c"))], []]


def test_a_row_marks_the_first_token_of_each_word() -> None:
    """Behind the labels, within what stands around a text; the text is cut."""
    baked, pair = PROMPT.for_pairs(tokenizer())
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
    assert PROMPT.whole(tokenizer())((prompt, "ab cde f")) == row


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (tokenizer(side="Left"), "cuts the beginning of long texts, and so the labels"),
        (tokenizer(special=("<L>",)), "makes several tokens of '<T>'"),
    ],
)
def test_other_tokenizers_are_refused(given: BakedTokenizer, message: str) -> None:
    """Labels must be whole, and have tokens before them."""
    with pytest.raises(InputError, match=message):
        PROMPT.for_pairs(given)
