"""Pairs of texts as the library joins them, and labels beside the words of a text as one row."""

from __future__ import annotations

import numpy as np
import pytest
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from polybake.baking.tokenizer.pairs import for_pairs, pair_of
from polybake.errors import InputError
from polybake.runtime.pairs import join
from polybake.runtime.tokenizer import BakedTokenizer

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
