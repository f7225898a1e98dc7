"""Fixtures of the studies."""

from __future__ import annotations

from pathlib import Path

import pytest

import polybake
from models.folders.tiny_folders import write_bert


@pytest.fixture(scope="session")
def bits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A baked model whose embeddings are bits, eight in a byte; those at an edge may differ."""
    folder = tmp_path_factory.mktemp("bits")
    steps = [
        {"step": "pool", "mode": "mean"},
        {"step": "truncate", "dimension": 8},
        {"step": "quantize", "precision": "ubinary"},
    ]
    polybake.bake(write_bert(folder / "model"), folder / "bits.onnx", name="tiny-bits", steps=steps)
    return folder / "bits.onnx"
