"""A suffix behind every text, in place of a tokenizer's own special tokens."""

from __future__ import annotations

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers

from models.folders.causal import qwen_tokenizer
from polybake.errors import InputError
from polybake.runtime.tokenization.suffix import with_suffix
from polybake.runtime.tokenization.tokenizer import BakedTokenizer

BEFORE, BEHIND = "<|im_start|>", "<|im_end|>\n"


def baked(made: Tokenizer, most: int = 9) -> BakedTokenizer:
    return BakedTokenizer(made.to_str(), 100, 0, "right").cut_at(most)


@pytest.mark.parametrize("text", ["", "a.", "a river that is too long for it", "<|im_end|>"])
def test_it_stays_behind_a_text_that_is_cut(text: str) -> None:
    """As sentence-transformers writes it over the last ids of the whole."""
    made = qwen_tokenizer()
    whole, behind = (made.encode(one).ids for one in (BEFORE + text + BEHIND, BEHIND))
    expected = whole if len(whole) <= 9 else whole[: 9 - len(behind)] + behind
    found = with_suffix(baked(made), [BEFORE], BEHIND)
    assert found.encode([BEFORE + text]) == [expected]


@pytest.mark.parametrize(
    ("suffix", "most", "message"),
    [
        ("\nb", 9, r"'\\nb' shares tokens with the text before it"),
        (BEHIND, 2, "2 tokens stand behind each text, and a row has 2"),
    ],
)
def test_what_is_not_exact_is_refused(suffix: str, most: int, message: str) -> None:
    """A suffix that a text may join, and one that leaves no room."""
    with pytest.raises(InputError, match=message):
        with_suffix(baked(qwen_tokenizer(), most), [BEFORE], suffix)


def test_a_tokenizer_without_digits_is_refused() -> None:
    """The library takes its unknown token for a part of the suffix."""
    made = Tokenizer(models.WordLevel({"[UNK]": 0, "a": 1, "end": 2}, unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    with pytest.raises(InputError, match="one token for the ends of 0 and 4"):
        with_suffix(baked(made), [""], " end")
