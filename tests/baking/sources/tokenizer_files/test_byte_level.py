"""Tokenizers of vocab.json and merges.txt; tests/oracle compares them with transformers'."""

from __future__ import annotations

from pathlib import Path

import pytest

from models.folders.old_tokenizers import made

SPACE = "\u0120"


@pytest.mark.parametrize(
    ("name", "settings", "expected"),
    [
        ("RobertaTokenizer", {}, ["<s>", "the", f"{SPACE}wa", "</s>"]),
        ("RobertaTokenizer", {"add_prefix_space": True}, ["<s>", f"{SPACE}the", f"{SPACE}wa"]),
        ("DebertaTokenizer", {}, ["[CLS]", "the", f"{SPACE}wa", "[SEP]"]),
        ("GPT2Tokenizer", {}, ["the", f"{SPACE}wa"]),
        ("GPT2Tokenizer", {"add_bos_token": True}, ["<|endoftext|>", "the", f"{SPACE}wa"]),
        ("GPT2Tokenizer", {"add_eos_token": True}, ["the", f"{SPACE}wa", "<|endoftext|>"]),
        ("Qwen2Tokenizer", {}, ["the", f"{SPACE}wa"]),
        ("Qwen2Tokenizer", {"add_prefix_space": None}, ["the", f"{SPACE}wa"]),
    ],
)
def test_words_are_merged_bytes(
    name: str, settings: dict[str, bool], expected: list[str], tmp_path: Path
) -> None:
    """With the tokens before and behind a text that the class or its settings name."""
    assert made(tmp_path, name, **settings).encode("the wa").tokens[: len(expected)] == expected


@pytest.mark.parametrize(
    ("name", "between"),
    [("RobertaTokenizer", "</s>"), ("DebertaTokenizer", "[SEP]")],
)
def test_two_tokens_stand_between_two_texts(name: str, between: str, tmp_path: Path) -> None:
    """All are of type 0."""
    found = made(tmp_path, name).encode("the", "wa")
    assert found.tokens[1:-1] == ["the", between, between, "wa"]
    assert set(found.type_ids) == {0}


def test_qwen_cuts_digits_and_composes_characters(tmp_path: Path) -> None:
    """Unlike RoBERTa, whose bytes are those of the text."""
    composed, apart = "\u00e912", "e\u030112"
    tokenizer = made(tmp_path / "qwen", "Qwen2Tokenizer")
    assert tokenizer.encode(apart).tokens == tokenizer.encode(composed).tokens
    assert [piece for piece, _ in tokenizer.pre_tokenizer.pre_tokenize_str("12")] == ["1", "2"]
    other = made(tmp_path / "roberta", "RobertaTokenizer")
    assert other.encode(apart).tokens != other.encode(composed).tokens
