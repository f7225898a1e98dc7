"""Folders of Stanford's ColBERT; tests/oracle/test_multi_vector.py compares their numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import polybake
from models.tiny_folders import CONFIG, VOCABULARY, bert_weights, write_bert, write_json
from polybake.errors import InputError
from polybake.modelfile.container import read_head
from polybake.sources import open_source
from polybake.sources.expanded_encoder import ExpandedEncoder

PROJECTION = np.random.default_rng(3).normal(size=(5, CONFIG["hidden_size"])).astype(np.float32)


def write_stanford(folder: Path, metadata: dict[str, Any] | None = None) -> Path:
    """A BERT with a projection beside it, whose markers are words of the vocabulary."""
    config = CONFIG | {"architectures": ["HF_ColBERT"]}
    write_bert(folder, config, bert_weights() | {"linear.weight": PROJECTION})
    write_json(folder / "tokenizer_config.json", {"mask_token": "[MASK]", "pad_token": "[PAD]"})
    markers = {"query_token_id": "query", "doc_token_id": "passage", "query_maxlen": 9}
    write_json(folder / "artifact.metadata", markers | (metadata or {}))
    return folder


def test_it_bakes_with_its_projection(tmp_path: Path) -> None:
    """As a model of vectors of tokens, whose prompts are its markers."""
    folder = write_stanford(tmp_path / "m", {"doc_maxlen": 20})
    polybake.bake(folder, tmp_path / "tiny.onnx", name="tiny")
    manifest = read_head(tmp_path / "tiny.onnx").manifest
    skipped = sorted(VOCABULARY.index(word) for word in (":", ".", ","))
    assert manifest.contract.task == "multi-vector"
    assert manifest.contract.output.dimension == 5
    assert manifest.contract.prompts == {"query": "query ", "document": "passage "}
    assert manifest.steps == (
        f"route(document: leave_out(ids={tuple(skipped)}); query: none; default: document)",
        "dense(weight=5x12, activation=identity)",
        "normalize()",
        "unpad()",
    )


def test_metadata(tmp_path: Path) -> None:
    """Limits, what the encoder attends to, and whether punctuation counts."""
    given = {"doc_maxlen": 20, "attend_to_mask_tokens": True, "mask_punctuation": False}
    source = open_source(write_stanford(tmp_path / "m", given))
    assert isinstance(source.encoder, ExpandedEncoder)
    expansion = source.encoder.expansion
    assert (expansion.limits, expansion.widths, expansion.attend) == ((20, 9), (0, 9), True)
    assert source.recipe[0]["routes"] == {"document": (), "query": ()}


def test_damaged_metadata_is_refused(tmp_path: Path) -> None:
    """By its key."""
    with pytest.raises(InputError, match="query_maxlen"):
        open_source(write_stanford(tmp_path / "m", {"query_maxlen": 0}))
