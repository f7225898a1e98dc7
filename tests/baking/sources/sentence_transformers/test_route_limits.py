"""Texts, queries and documents with limits of their own."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from models.folders.tiny_folders import (
    VOCABULARY,
    change_json,
    write_bert,
    write_json,
    write_sentence_transformers,
)
from polybake.baking.bake import bake
from polybake.baking.recipe.resolve import resolve
from polybake.baking.sources import open_source
from polybake.baking.sources.expanded_encoder import ExpandedEncoder
from polybake.base.modelfile.container import read_head
from polybake.base.modelfile.fixture import decode_vectors
from polybake.errors import InputError
from polybake.runtime.session import open_session

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
def test_reads_the_limits(
    settings: dict[str, object], expected: dict[str, int], tmp_path: Path
) -> None:
    """The tokenizer cuts at the largest, whichever that is."""
    assert limits(write(tmp_path / "model", **settings)) == (expected, max(expected.values()))


def test_a_tokenizer_of_vocab_txt_is_cut_at_the_largest(tmp_path: Path) -> None:
    """A larger limit is baked into a tokenizer that was made of older files, too."""
    folder = write(tmp_path / "model", document_length=24, max_seq_length=9)
    (folder / "tokenizer.json").unlink()
    lines = "".join(f"{token}\n" for token in dict.fromkeys(VOCABULARY))
    (folder / "vocab.txt").write_text(lines, "utf-8")
    assert limits(folder) == ({"text": 9, "query": 9, "document": 24}, 24)


@pytest.mark.parametrize("settings", [{}, {"max_seq_length": 9, "query_length": 9}])
def test_equal_limits_need_no_route(settings: dict[str, object], tmp_path: Path) -> None:
    """Limits that are all the usual one change nothing."""
    source = open_source(write(tmp_path / "model", **settings))
    assert not isinstance(source.encoder, ExpandedEncoder)
    assert not source.prompts


def test_cuts_each_at_its_limit(tmp_path: Path) -> None:
    """A long query has the vector of its first tokens and the last special one."""
    folder = write(tmp_path / "model", query_length=6, document_length=10)
    prompts = {"prompts": {"passage": "", "other": ""}}
    write_json(folder / "config_sentence_transformers.json", prompts)
    source = open_source(folder)
    steps = resolve(source.recipe, base=folder, source=source)
    path = bake(source, steps, tmp_path / "out.onnx", name="cut").path
    head = read_head(path)
    assert set(head.manifest.contract.prompts) == {"query", "document", "passage", "other"}
    alone = open_session(
        open_source(write_bert(tmp_path / "alone")).encoder.reference(tmp_path).path
    )
    kept = {"query": 6, "document": 10, "passage": 10}
    cut = 0
    for case in head.fixture.cases:
        for ids, vector in zip(case.input_ids, decode_vectors(case.embeddings), strict=True):
            limit = kept.get(case.prompt or "", 32)
            row = ids if len(ids) <= limit else [*ids[: limit - 1], ids[-1]]
            cut += len(row) < len(ids)
            fed = {
                "input_ids": np.array([row], np.int64),
                "attention_mask": np.ones((1, len(row)), np.int64),
            }
            expected = alone.run(None, fed)[0][0].mean(axis=0)
            assert vector == pytest.approx(expected, abs=1e-6), (case.id, case.prompt)
    assert cut


@pytest.mark.parametrize(
    ("settings", "shown"),
    [
        ({"query_length": 41}, "max length 41 exceeds max_position_embeddings 40; lower"),
        ({"document_length": 9, "query_expansion": {}}, "query_expansion: "),
    ],
)
def test_refuses_what_the_model_does_not_take(
    settings: dict[str, object], shown: str, tmp_path: Path
) -> None:
    """A limit beyond the positions, and another way to change a query."""
    with pytest.raises(InputError, match=shown):
        open_source(write(tmp_path / "model", **settings))


def test_refuses_texts_cut_at_their_beginning(tmp_path: Path) -> None:
    """The graph cuts the end."""
    folder = write(tmp_path / "model", query_length=6)
    change_json(folder / "tokenizer_config.json", truncation_side="left")
    with pytest.raises(InputError, match=r"truncation_side is left, .* set it to right"):
        open_source(folder)
