"""Random texts have all that they are said to have."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest

from polybake.base.modelfile.container import read_head
from polybake.runtime.tokenization.tokenizer import BakedTokenizer
from polybake.study.random.search import draw
from polybake.study.random.texts import BATCH, Drawn, drawn_cases


@pytest.fixture(scope="module")
def tokenizer(every_feed: Path) -> BakedTokenizer:
    head = read_head(every_feed)
    return BakedTokenizer.of(head.tokenizer, head.manifest.contract)


@pytest.fixture(scope="module")
def drawn(every_feed: Path, tokenizer: BakedTokenizer) -> list[Drawn]:
    return draw(drawn_cases(read_head(every_feed).manifest.contract, tokenizer), 400, 1)


def test_calls_have_every_prompt_and_several_texts(drawn: list[Drawn]) -> None:
    """Calls have each prompt or none, and one text or several, some of them empty."""
    assert {one.prompt for one in drawn} == {None, "query", "document"}
    assert {len(one.texts) for one in drawn} == {*range(1, BATCH + 1)}
    assert any("" in one.texts for one in drawn)


def test_texts_have_every_class_of_characters_but_surrogates(drawn: list[Drawn]) -> None:
    """Every text can be encoded."""
    texts = "".join(text for one in drawn for text in one.texts)
    texts.encode("utf-8")
    categories = {unicodedata.category(character) for character in texts}
    assert {category[0] for category in categories} == {*"LMNPSZC"}
    assert len(categories) > 20
    assert "Cs" not in categories
    for kind in ("\u200d", "\u202e", "\uffff", "\U0010ffff", "\u3000", "\ufe0f"):
        assert kind in texts


def test_texts_are_about_the_limit_and_spell_tokens(
    drawn: list[Drawn], tokenizer: BakedTokenizer
) -> None:
    """Texts have the limit's tokens or one more or less, and spell special tokens."""
    lengths = {tokenizer.count(text) for one in drawn for text in one.texts}
    limit = tokenizer.max_length
    assert {limit - 1, limit, limit + 1} <= lengths
    texts = "".join(text for one in drawn for text in one.texts)
    own = tokenizer.untruncated.get_added_tokens_decoder().values()
    assert all(token.content in texts for token in own)
