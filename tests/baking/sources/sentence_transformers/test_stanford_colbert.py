"""Folders of Stanford's ColBERT; tests/oracle/test_multi_vector.py compares their numbers."""

from __future__ import annotations

from pathlib import Path

import pytest

import polybake
from models.folders.stanford import write_stanford
from models.folders.tiny_folders import VOCABULARY
from polybake.baking.sources import open_source
from polybake.baking.sources.expanded_encoder import ExpandedEncoder
from polybake.base.modelfile.container import read_head
from polybake.errors import InputError


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


def test_without_metadata_it_is_refused(tmp_path: Path) -> None:
    """The lengths of its texts stand nowhere else, and the library's own would be others."""
    folder = write_stanford(tmp_path / "m")
    (folder / "artifact.metadata").unlink()
    with pytest.raises(InputError, match=r"m: has no artifact\.metadata; copy it from"):
        open_source(folder)
