"""ALiBi's slopes and bias."""

from __future__ import annotations

import numpy as np
import pytest

from models.parts.tiny_encoders import run_graph
from polybake.baking.layers.alibi import alibi_bias, slopes


@pytest.mark.parametrize(
    ("heads", "expected"),
    [
        (1, [2**-8]),
        (2, [2**-4, 2**-8]),
        (3, [2**-4, 2**-8, 2**-2]),
        (8, [2**-1, 2**-2, 2**-3, 2**-4, 2**-5, 2**-6, 2**-7, 2**-8]),
        (12, [2.0**-n for n in (1, 2, 3, 4, 5, 6, 7, 8, 0.5, 1.5, 2.5, 3.5)]),
    ],
)
def test_slopes_are_the_papers(heads: int, expected: list[float]) -> None:
    """Powers of 2 ** (-8 / n), and for other numbers of heads some of twice as many."""
    assert slopes(heads) == expected


def test_the_bias_falls_with_distance() -> None:
    """To both sides alike, by the slope of each head a place."""
    ids = np.zeros((2, 3), np.int64)
    found = run_graph(lambda op, ids: alibi_bias(op, ids, 2), ids=ids)
    apart = np.array([[0, 1, 2], [1, 0, 1], [2, 1, 0]], np.float32)
    expected = -np.array([2**-4, 2**-8], np.float32)[:, None, None] * apart
    np.testing.assert_array_equal(found, expected[None])
