"""Tokenizers of SentencePiece's BPE; tests/oracle compares them with transformers'."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from models.folders.old_tokenizers import made, write_old
from polybake.baking.sources.tokenizer_files.byte_fallback import merges
from polybake.baking.sources.tokenizer_files.made_tokenizer import make_tokenizer
from polybake.base.files.model_folder import ModelFolder
from polybake.errors import InputError

THE = "\u2581the"


@pytest.mark.parametrize(
    ("name", "settings", "expected"),
    [
        ("LlamaTokenizer", {}, ["<s>", THE, "<0x5A>", THE]),
        ("LlamaTokenizer", {"add_eos_token": True}, ["<s>", THE, "<0x5A>", THE, "</s>"]),
        ("LlamaTokenizer", {"add_bos_token": False}, [THE, "<0x5A>", THE]),
        ("LlamaTokenizer", {"add_prefix_space": False}, ["<s>", "the", "<0x5A>", THE]),
        ("LlamaTokenizer", {"add_prefix_space": None}, ["<s>", THE, "<0x5A>", THE]),
        ("GemmaTokenizer", {}, ["<bos>", "the", "<0x5A>", THE]),
    ],
)
def test_unknown_characters_are_bytes(
    name: str, settings: dict[str, Any], expected: list[str], tmp_path: Path
) -> None:
    """With a space before the first word, unless the class or its settings leave it out."""
    assert made(tmp_path, name, **settings).encode("theZ the").tokens == expected


@pytest.mark.parametrize(("legacy", "expected"), [(True, THE), (False, "the"), (None, "the")])
def test_legacy_puts_a_space_behind_a_special_token(
    legacy: bool | None, expected: str, tmp_path: Path
) -> None:
    """Otherwise one stands before the first word alone."""
    found = made(tmp_path, "LlamaTokenizer", legacy=legacy).encode("</s>the")
    assert found.tokens == ["<s>", "</s>", expected]


def test_merges_are_all_pairs_that_give_a_piece() -> None:
    """In the order of the piece's id, then of the first part's length."""
    ids = {piece: number for number, piece in enumerate(["abc", "a", "bc", "ab", "c", "b"])}
    assert merges(ids) == [("a", "bc"), ("ab", "c"), ("b", "c"), ("a", "b")]


@pytest.mark.parametrize("name", ["LlamaTokenizer", "GemmaTokenizer"])
def test_a_token_before_a_text_must_be_asked_for(name: str, tmp_path: Path) -> None:
    """Versions of transformers have other defaults."""
    folder = write_old(tmp_path, name, add_bos_token=None)
    with pytest.raises(InputError, match="no add_bos_token, which transformers 4 takes for true"):
        make_tokenizer(ModelFolder.at(folder))
