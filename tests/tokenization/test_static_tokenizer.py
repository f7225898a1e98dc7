"""The tokenizer of a static embedding, as it is baked."""

from __future__ import annotations

from pathlib import Path

import pytest

from models.tiny_folders import VOCABULARY, change_json, write_tokenizer
from polybake.errors import InputError
from polybake.files.model_folder import ModelFolder
from polybake.tokenization.static_tokenizer import bake_static_tokenizer
from polybake.tokenization.tokenizer import NO_LIMIT, BakedTokenizer

BOAT, WATER = VOCABULARY.index("boat"), VOCABULARY.index("water")


def baked(folder: Path, rows: int = len(VOCABULARY), **changes: object) -> BakedTokenizer:
    write_tokenizer(folder)
    change_json(folder / "tokenizer.json", **changes)
    data = ModelFolder.at(folder).settings("tokenizer.json")
    return bake_static_tokenizer(ModelFolder.at(folder), data, rows=rows)


def test_adds_no_special_tokens_and_no_padding(tmp_path: Path) -> None:
    """The ids are the words' alone, and a text without words has none."""
    assert baked(tmp_path).encode(["Boat water", ""]) == [[BOAT, WATER], []]


def test_keeps_the_truncation_of_tokenizer_json(tmp_path: Path) -> None:
    """Its limit holds for the words alone, whatever tokenizer_config.json says."""
    tokenizer = baked(tmp_path)
    assert tokenizer.max_length == 9
    assert tokenizer.encode(["boat " * 20]) == [[BOAT] * 9]
    assert tokenizer.count("boat " * 20) == 20


def test_has_no_limit_without_truncation(tmp_path: Path) -> None:
    """A text of any length keeps all its tokens."""
    tokenizer = baked(tmp_path, truncation=None)
    assert tokenizer.max_length == NO_LIMIT
    assert tokenizer.encode(["boat " * 3000]) == [[BOAT] * 3000]


def test_refuses_ids_beyond_the_rows(tmp_path: Path) -> None:
    """A tokenizer of another model would fail at some text only."""
    with pytest.raises(InputError, match=r"has the id 67 and the embedding 67 rows"):
        baked(tmp_path, rows=67)
