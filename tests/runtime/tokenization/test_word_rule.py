"""The rule by which a tokenizer's words end."""

from __future__ import annotations

import pytest
from tokenizers import Tokenizer, normalizers, pre_tokenizers

from models.folders.small_tokenizers import baked, byte_level, metaspace, wordpiece
from polybake.runtime.tokenization.tokenizer import BakedTokenizer
from polybake.runtime.tokenization.word_rule import WordRule, word_rule


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
