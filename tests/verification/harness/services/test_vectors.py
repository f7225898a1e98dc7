"""Vectors that services give."""

from __future__ import annotations

import base64

import numpy as np
import pytest

from polybake.verification.harness.services.vectors import agreed, encoded, stacked


def test_numbers_and_base64_are_the_same() -> None:
    """Both forms give the same float32 values, bit for bit."""
    row = np.array([0.1, -3e-38, 7], np.float32)
    text = base64.b64encode(row.tobytes()).decode()
    np.testing.assert_array_equal(stacked([[float(x) for x in row]]), stacked([text]))


@pytest.mark.parametrize("text", ["*", base64.b64encode(b"12345").decode()])
def test_what_is_no_base64_of_float32_is_refused(text: str) -> None:
    """Invalid base64 is refused, and so are left-over bytes."""
    with pytest.raises(ValueError, match="not base64 of float32"):
        stacked([text])


def test_a_number_beyond_float32_is_infinite() -> None:
    """A number too large becomes infinity, which the judge then refuses."""
    assert np.isinf(stacked([[1e300]])).all()


@pytest.mark.parametrize(
    ("vectors", "dtype"), [([[1, -128]], "int8"), ([[1.5, 2]], "float32"), ([[1, 128]], "float32")]
)
def test_integers_are_taken_for_such(vectors: list[list[float]], dtype: str) -> None:
    """Vectors are integers only if every number is one of the model's type."""
    found = encoded(stacked(vectors), "int8")
    assert found["dtype"] == dtype
    kept = np.frombuffer(base64.b64decode(found["data"]), dtype).reshape(found["shape"])
    np.testing.assert_array_equal(kept, vectors)


def test_encodings_must_agree() -> None:
    """Both encodings have the same shape, and agree within the tolerance."""
    first = stacked([[0.6, 0.8]])
    assert agreed([first, first + np.float32(5e-6)]) is first
    with pytest.raises(ValueError, match="other vectors than as numbers: row 0"):
        agreed([first, first + np.float32(1e-4)])
    with pytest.raises(ValueError, match=r"of shape \[1, 1\], not \[1, 2\]"):
        agreed([first, first[:, :1]])
