"""Running sums against NumPy's and the definition's results on the whole array."""

from __future__ import annotations

import numpy as np
import pytest

from polybake.bulk.fit.moments import Moments

X = (np.random.default_rng(3).normal(size=(40, 6)) * [5, 4, 3, 2, 1, 0.5] + 9).astype(np.float32)


@pytest.fixture
def moments() -> Moments:
    found = Moments(6)
    for start in range(0, len(X), 7):
        found.add(X[start : start + 7])
    return found


def test_mean_covariance_and_ranges(moments: Moments) -> None:
    """Batches of any size add up to what the whole array gives."""
    whole = X.astype(np.float64)
    assert moments.count == 40
    assert moments.mean() == pytest.approx(whole.mean(axis=0), abs=1e-12)
    assert moments.covariance() == pytest.approx(np.cov(whole, rowvar=False), abs=1e-10)
    np.testing.assert_array_equal(moments.ranges, [X.min(axis=0), X.max(axis=0)])


def test_principal_components(moments: Moments) -> None:
    """Components are right singular vectors of the centred array, signed by the largest element."""
    centred = X.astype(np.float64) - X.astype(np.float64).mean(axis=0)
    _, singular, rows = np.linalg.svd(centred, full_matrices=False)
    variances, components = moments.principal()
    assert variances == pytest.approx(singular**2 / 39, abs=1e-9)
    for found, expected in zip(components, rows, strict=True):
        assert found == pytest.approx(expected * np.sign(found @ expected), abs=1e-7)
        assert max(found) == max(abs(found))


def test_a_large_mean_hides_no_variance() -> None:
    """The covariance of vectors far from zero is still right to six digits."""
    far = Moments(6)
    far.add(X + np.float32(1000))
    expected = np.cov((X + np.float32(1000)).astype(np.float64), rowvar=False)
    assert far.covariance() == pytest.approx(expected, rel=1e-6, abs=1e-6)
