"""Vectors in a NumPy array."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from polybake.base.texts import window
from support.bulk.written import written


@pytest.mark.parametrize("dtype", ["float32", "int8", "uint8"])
def test_the_parts_become_one_array(
    dtype: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The array has the model's dtype and can be memory-mapped."""
    monkeypatch.setattr(window, "MOST_ROWS", 2)
    (tmp_path / "texts.txt").write_text("a\nb\nc\n")
    vectors = np.arange(12).reshape(3, 4).astype(dtype)
    out = written(tmp_path / "texts.txt", vectors, ".npy", {"texts": {"rows": 3}})
    found = np.load(out, mmap_mode="r")
    assert found.dtype == dtype
    assert (found == vectors).all()
