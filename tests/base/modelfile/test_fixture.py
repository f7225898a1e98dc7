"""Vectors as JSON keeps them: exactly, and without most of their zeros."""

from __future__ import annotations

import base64

import numpy as np
import pytest

from polybake.base.modelfile.fixture import Vectors, decode_vectors, encode_vectors

SPARSE = np.array([[0, 0, 1.5, 0, 0], [0, 0, 0, 0, -2]], np.float32)


def test_zeros_are_left_out_where_most_are() -> None:
    """Storing places pays off where most elements are zero, as a place costs four bytes."""
    encoded = encode_vectors(SPARSE)
    assert encoded.places == base64.b64encode(np.array([2, 9], "<i4").tobytes()).decode()
    assert (decode_vectors(encoded) == SPARSE).all()
    half = np.array([[0, 1], [2, 0]], np.float32)
    assert encode_vectors(half).places is None
    assert (decode_vectors(encode_vectors(half)) == half).all()


def test_nothing_but_zeros() -> None:
    """A vector of zeros stores no place at all."""
    encoded = encode_vectors(np.zeros((2, 3), np.float32))
    assert (encoded.places, encoded.data) == ("", "")
    assert (decode_vectors(encoded) == 0).all()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"places": "!"}, "places is not base64"),
        ({"data": "!"}, "data is not base64"),
        ({"places": "AAAA"}, "places has 3 bytes, expected 4 for each"),
        ({"places": base64.b64encode(np.array([2], "<i4").tobytes()).decode()}, "expected 4 for"),
        ({"places": base64.b64encode(np.array([2, 10], "<i4").tobytes()).decode()}, "not below 10"),
        ({"places": base64.b64encode(np.array([2, -1], "<i4").tobytes()).decode()}, "not below 10"),
    ],
)
def test_damaged_vectors_are_refused(changes: dict[str, str], message: str) -> None:
    """The message says what is wrong with places or data."""
    damaged = encode_vectors(SPARSE).model_dump() | changes
    with pytest.raises(ValueError, match=message):
        decode_vectors(Vectors.model_validate(damaged))
