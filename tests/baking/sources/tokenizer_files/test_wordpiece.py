"""Tokenizers of vocab.txt; tests/oracle compares them with transformers'."""

from __future__ import annotations

from pathlib import Path

import pytest

from models.folders.old_tokenizers import made


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, "cafe ##s \u4e2d the"),
        ({"strip_accents": False}, "caf\u00e9 ##s \u4e2d the"),
        ({"do_lower_case": False}, "caf\u00e9 ##s \u4e2d [UNK]"),
        ({"tokenize_chinese_chars": False}, "[UNK] the"),
    ],
)
def test_bert_cuts_as_its_settings_say(
    settings: dict[str, bool], expected: str, tmp_path: Path
) -> None:
    """Letters of any case and with accents, and characters of Chinese."""
    text = "caf\u00e9s\u4e2d The"
    found = made(tmp_path, "BertTokenizer", **settings).encode(text, add_special_tokens=False)
    assert found.tokens == expected.split()


def test_bert_joins_two_texts(tmp_path: Path) -> None:
    """The second text and the token behind it are of type 1."""
    found = made(tmp_path, "BertTokenizer").encode("the [MASK]", "boats")
    assert found.tokens == ["[CLS]", "the", "[MASK]", "[SEP]", "boat", "##s", "[SEP]"]
    assert found.type_ids == [0, 0, 0, 0, 1, 1, 1]


def test_mpnet_joins_two_texts(tmp_path: Path) -> None:
    """Two tokens stand between them, and no token is of type 1; its mask takes the space before."""
    found = made(tmp_path, "MPNetTokenizer").encode("the <mask>", "river")
    assert found.tokens == ["<s>", "the", " <mask>", "</s>", "</s>", "river", "</s>"]
    assert found.type_ids == [0] * 7
