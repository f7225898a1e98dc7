"""Integers that lie in a file until they are written into a graph."""

from pathlib import Path

import numpy as np

from polybake.baking.quantization.in_file import in_file


def test_integers_are_those_that_were_given(tmp_path: Path) -> None:
    integers = np.random.default_rng(1).integers(-128, 128, (300, 70)).astype(np.int8)
    kept = in_file(integers, tmp_path)
    other = in_file(np.asfortranarray(integers)[:, ::-1], tmp_path)
    np.testing.assert_array_equal(kept, integers)
    np.testing.assert_array_equal(other, integers[:, ::-1])
    assert sorted(one.stat().st_size for one in tmp_path.iterdir()) == [21_000, 21_000]
