"""Texts, queries and documents with limits of their own; tests/oracle compares their vectors."""

from __future__ import annotations

from pathlib import Path

import pytest

from models.folders.tiny_folders import VOCABULARY, write_json, write_sentence_transformers
from polybake.baking.sources import open_source
from polybake.baking.sources.expanded_encoder import ExpandedEncoder
from polybake.errors import InputError

POOLING = ("Pooling", {"embedding_dimension": 12, "pooling_mode": "mean"})


def write(folder: Path, **settings: object) -> Path:
    """Write a BERT with these keys of sentence_bert_config.json."""
    write_sentence_transformers(folder, POOLING)
    write_json(folder / "sentence_bert_config.json", settings)
    return folder


def limits(folder: Path) -> tuple[dict[str, int], int]:
    """The limit of each route, and that of the tokenizer."""
    source = open_source(folder)
    assert isinstance(source.encoder, ExpandedEncoder)
    routes = dict(zip(source.encoder.routes, source.encoder.expansion.limits, strict=True))
    return routes, source.tokenizer.max_length


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"query_length": 6}, {"text": 32, "query": 6, "document": 32}),
        (
            {"query_length": 6, "document_length": 24, "max_seq_length": 9},
            {"text": 9, "query": 6, "document": 24},
        ),
    ],
)
@pytest.mark.parametrize("older", [False, True])
def test_reads_the_limits(
    older: bool, settings: dict[str, object], expected: dict[str, int], tmp_path: Path
) -> None:
    """The tokenizer cuts at the largest, whichever that is, also if it is made of older files."""
    folder = write(tmp_path / "model", **settings)
    if older:
        (folder / "tokenizer.json").unlink()
        lines = "".join(f"{token}\n" for token in dict.fromkeys(VOCABULARY))
        (folder / "vocab.txt").write_text(lines, "utf-8")
    assert limits(folder) == (expected, max(expected.values()))


@pytest.mark.parametrize("settings", [{}, {"max_seq_length": 9, "query_length": 9}])
def test_equal_limits_need_no_route(settings: dict[str, object], tmp_path: Path) -> None:
    """Limits that are all the usual one change nothing."""
    source = open_source(write(tmp_path / "model", **settings))
    assert not isinstance(source.encoder, ExpandedEncoder)
    assert not source.prompts


@pytest.mark.parametrize(
    ("settings", "shown"),
    [
        ({"query_length": 41}, "max length 41 exceeds max_position_embeddings 40; lower"),
        ({"document_length": 9, "query_expansion": {}}, "query_expansion: "),
    ],
)
def test_what_the_model_does_not_take_is_refused(
    settings: dict[str, object], shown: str, tmp_path: Path
) -> None:
    """A limit beyond the positions, and another way to change a query."""
    with pytest.raises(InputError, match=shown):
        open_source(write(tmp_path / "model", **settings))
