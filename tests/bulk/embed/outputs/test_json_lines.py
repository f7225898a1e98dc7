"""Vectors in JSON."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from polybake.base.texts import window
from support.bulk.written import written

LINES = ['{"text": "a", "n": 1.50}', '{"text": "{}", "x": {"y": []} }', '{"text": "\\u00e4"}']


def test_each_row_gets_its_vector(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The vector is added behind a row's other keys, of which no character changes."""
    monkeypatch.setattr(window, "MOST_ROWS", 2)
    (tmp_path / "texts.jsonl").write_text("\n".join(LINES))
    vectors = np.arange(6).reshape(3, 2).astype(np.int8)
    out = written(tmp_path / "texts.jsonl", vectors, ".jsonl", {})
    assert out.read_text().splitlines() == [
        f'{line[:-1]}, "embedding": [{a}, {b}]}}'
        for line, (a, b) in zip(LINES, vectors, strict=True)
    ]


def test_every_float_comes_back(tmp_path: Path) -> None:
    """The digits written give back every finite float32, bit for bit."""
    bits = np.random.default_rng(7).integers(0, 2**32, 4000, np.uint32)
    floats = bits.view(np.float32)
    vectors = floats[np.isfinite(floats)][:3900].reshape(3, 1300)
    (tmp_path / "texts.txt").write_text("a\nb\nc")
    out = written(tmp_path / "texts.txt", vectors, ".jsonl", {})
    found = [json.loads(line)["embedding"] for line in out.read_text().splitlines()]
    assert np.array(found, np.float32).tobytes() == vectors.tobytes()
