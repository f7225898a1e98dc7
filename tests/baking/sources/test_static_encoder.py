"""Static embeddings of a folder, with their tokenizer as it is baked."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from models.folders.tiny_folders import VOCABULARY, change_json, write_tokenizer
from polybake.baking.sources.static_encoder import open_static_embedding
from polybake.base.files.model_folder import ModelFolder
from polybake.errors import InputError
from polybake.runtime.tokenization.tokenizer import NO_LIMIT, BakedTokenizer
from polybake.runtime.tokenization.tokenizer_json import read_tokenizer

BOAT, WATER = VOCABULARY.index("boat"), VOCABULARY.index("water")


def baked(folder: Path, rows: int = len(VOCABULARY), **changes: object) -> BakedTokenizer:
    write_tokenizer(folder)
    change_json(folder / "tokenizer.json", **changes)
    save_file({"embedding.weight": np.ones((rows, 2), np.float32)}, folder / "model.safetensors")
    opened = ModelFolder.at(folder)
    return open_static_embedding(opened, read_tokenizer(opened))[1]


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
