"""Tables of tokens, without an encoder; tests/oracle compares their vectors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from models.folders.tiny_folders import (
    VOCABULARY,
    change_json,
    write_json,
    write_tokenizer,
)
from polybake.baking.sources import open_source
from polybake.baking.sources.static_encoder import open_static_embedding
from polybake.baking.tokenizer.tokenizer_json import read_tokenizer
from polybake.base.files.model_folder import ModelFolder
from polybake.base.modelfile.manifest import NO_LIMIT
from polybake.errors import InputError
from polybake.runtime.tokenizer import BakedTokenizer

BOAT, B, A = (VOCABULARY.index(token) for token in ("boat", "b", "a"))
TABLE = np.random.default_rng(3).integers(-127, 128, (len(VOCABULARY), 7)).astype(np.int8)


def static(folder: Path, rows: int = len(VOCABULARY), **changes: object) -> BakedTokenizer:
    """The tokenizer of a StaticEmbedding."""
    write_tokenizer(folder)
    change_json(folder / "tokenizer.json", **changes)
    save_file({"embedding.weight": np.ones((rows, 2), np.float32)}, folder / "model.safetensors")
    opened = ModelFolder.at(folder)
    return open_static_embedding(opened, read_tokenizer(opened))[1]


def test_static_embeddings_have_no_limit_without_truncation(tmp_path: Path) -> None:
    """A text of any length keeps all its tokens."""
    tokenizer = static(tmp_path, truncation=None)
    assert tokenizer.max_length == NO_LIMIT
    assert tokenizer.encode(["boat " * 3000]) == [[BOAT] * 3000]


def test_ids_beyond_the_rows_are_refused(tmp_path: Path) -> None:
    """A tokenizer of another model would fail at some text only."""
    with pytest.raises(InputError, match=r"has the id 67 and the embedding 67 rows"):
        static(tmp_path, rows=67)


def write_model2vec(folder: Path, **config: object) -> Path:
    """A folder of model2vec, of integers."""
    folder.mkdir()
    write_tokenizer(folder)
    write_json(folder / "config.json", {"model_type": "model2vec", **config})
    save_file({"embeddings": TABLE}, folder / "model.safetensors")
    return folder


@pytest.mark.parametrize("config", [{}, {"normalize": None}, {"normalize": False}])
def test_model2vec_normalizes_only_where_asked_for(
    tmp_path: Path, config: dict[str, object]
) -> None:
    """The first versions of model2vec wrote no such key."""
    recipe = open_source(write_model2vec(tmp_path / "m", **config)).recipe
    assert [spec["step"] for spec in recipe] == ["leave_out", "pool"]


@pytest.mark.parametrize(
    ("config", "limit", "text", "ids"),
    [
        ({}, 512, "a " * 1000, [A] * 512),
        ({"max_length": 5}, 5, "a " * 1000, [A] * 5),
        ({"max_length": 5}, 5, "boat" + " " * 10 + "boat", [BOAT, B]),
        ({"max_length": None}, NO_LIMIT, "a " * 1000, [A] * 1000),
    ],
)
def test_model2vec_cuts_at_its_own_limit(
    config: dict[str, object], limit: int, text: str, ids: list[int], tmp_path: Path
) -> None:
    """In tokens, and before it in characters: as many as the tokens by their median length of 3."""
    tokenizer = open_source(write_model2vec(tmp_path / "m", **config)).tokenizer
    assert (tokenizer.max_length, tokenizer.encode([text])) == (limit, [ids])


@pytest.mark.parametrize("limit", ["512", 1.5])
def test_model2vec_refuses_what_is_no_limit(tmp_path: Path, limit: object) -> None:
    with pytest.raises(InputError, match=r"config\.json: max_length: .*; set max_length"):
        open_source(write_model2vec(tmp_path / "m", max_length=limit))


STATIC = "sentence_transformers.sparse_encoder.modules.sparse_static_embedding"


@pytest.mark.parametrize(
    ("config", "count", "shown"),
    [
        ({"frozen": False}, 9, r"weight is \[9\], expected a finite number for each of"),
        ({"path": "../idf.json"}, len(VOCABULARY), "path"),
    ],
)
def test_other_sparse_tables_are_refused(
    config: dict[str, object], count: int, shown: str, tmp_path: Path
) -> None:
    """Less weights than tokens, and a file of the configuration's choice."""
    write_tokenizer(tmp_path)
    write_json(tmp_path / "config.json", config)
    save_file({"weight": np.ones(count, np.float32)}, tmp_path / "model.safetensors")
    kind = f"{STATIC}.SparseStaticEmbedding"
    write_json(tmp_path / "modules.json", [{"idx": 0, "name": "0", "path": "", "type": kind}])
    write_json(tmp_path / "config_sentence_transformers.json", {"model_type": "SparseEncoder"})
    with pytest.raises(InputError, match=shown):
        open_source(tmp_path)
