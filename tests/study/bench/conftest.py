"""Fixtures that the benchmark's tests share."""

from __future__ import annotations

from pathlib import Path

import pytest

from models.folders.tiny_folders import write_bert
from polybake.baking.bake import bake
from polybake.baking.recipe.resolve import resolve
from polybake.baking.sources import open_source


@pytest.fixture(scope="session")
def bits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A baked model whose embeddings are bits, eight in a byte."""
    folder = tmp_path_factory.mktemp("bits")
    write_bert(folder / "model")
    source = open_source(folder / "model")
    steps = [
        {"step": "pool", "mode": "mean"},
        {"step": "truncate", "dimension": 8},
        {"step": "quantize", "precision": "ubinary"},
    ]
    out = folder / "bits.onnx"
    bake(source, resolve(steps, base=folder, source=source), out, name="bits")
    return out
