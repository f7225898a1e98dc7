"""What is known of the inputs of products."""

import numpy as np

from polybake.baking.quantization.calibration import Statistics


def test_statistics_are_those_of_all_rows_together() -> None:
    """Sums alone give the moments of all rows about any centre."""
    random = np.random.default_rng(0)
    x = random.normal(3, 2, (5, 7, 4)).astype(np.float32)
    statistics = Statistics(4)
    for part in x:
        statistics.add(part)
    rows = x.reshape(-1, 4).astype(np.float64)
    np.testing.assert_array_equal(statistics.least, rows.min(axis=0))
    np.testing.assert_array_equal(statistics.largest, rows.max(axis=0))
    np.testing.assert_allclose(
        statistics.center, (rows.min(axis=0) + rows.max(axis=0)) / 2, rtol=1e-6
    )
    center = np.array([3, -1, 0, 50], np.float32)
    moved = rows - center
    found = statistics.moments(center)
    np.testing.assert_allclose(found, moved.T @ moved / len(rows), rtol=1e-5)


def test_moments_of_inputs_that_hardly_vary() -> None:
    """Small differences between inputs far from 0 are not lost among large squares."""
    random = np.random.default_rng(0)
    x = (1000 + random.normal(0, 0.01, (40, 50, 16))).astype(np.float32)
    statistics = Statistics(16)
    for part in x:
        statistics.add(part)
    found = statistics.moments(statistics.center)
    moved = x.reshape(-1, 16).astype(np.float64) - statistics.center
    np.testing.assert_allclose(found, moved.T @ moved / len(moved), atol=1e-7)
    assert np.linalg.eigvalsh(found).min() > 5e-5


def test_an_expert_may_have_no_row() -> None:
    """Texts without a row change nothing, and without any row nothing is known."""
    x = np.array([[1, 2], [3, 5]], np.float32)
    statistics, nothing = Statistics(2), Statistics(2)
    for part in (x[:0], x, x[:0]):
        statistics.add(part)
    nothing.add(x[:0])
    np.testing.assert_array_equal(statistics.center, [2, 3.5])
    np.testing.assert_allclose(statistics.moments(np.zeros(2, np.float32)), x.T @ x / 2)
    np.testing.assert_array_equal(nothing.center, [0, 0])
    np.testing.assert_array_equal(nothing.moments(nothing.center), np.zeros((2, 2)))
