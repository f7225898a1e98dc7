"""Wrong values that services give in place of vectors."""

from __future__ import annotations

import numpy as np
import pytest

from polybake.verification.testing.found import found_vectors

GOLDEN = np.zeros((2, 3), np.float32)
INTEGERS = np.zeros((2, 3), np.int8)


async def embed() -> None:
    """A service's call that is never awaited."""


@pytest.mark.parametrize(
    ("vectors", "message"),
    [
        (None, "got NoneType, expected vectors, one for each text"),
        ([[1, 2, 3]], "1 vectors, expected 2"),
        ([[1, 2, 3], [1, 2]], r"row 1: shape \[2\], expected \[3\]"),
        ([1.0, 2.0], r"row 0: shape \[\], expected \[3\]"),
        ([[1, 2, 3], [1, 2, None]], "row 1: elements are object, expected numbers"),
        ([[1, 2, 3], ["1", "2", "3"]], "row 1: elements are <U1, expected numbers"),
        ({"data": 1, "model": 2}, r"row 0: shape \[\], expected \[3\]"),
        ([[1, 2, 3], [[1], [2, 3]]], "the vectors of a text are no array"),
    ],
)
def test_what_is_no_vector_is_named(vectors, message: str) -> None:
    """The message says what was found and what was expected."""
    with pytest.raises(ValueError, match=message):
        found_vectors(vectors, GOLDEN, several=False)


def test_a_call_that_was_not_awaited_is_named() -> None:
    """A forgotten await is the most common mistake in a test of an async service."""
    call = embed()
    with pytest.raises(ValueError, match="got coroutine, expected vectors"):
        found_vectors(call, GOLDEN, several=False)  # type: ignore[arg-type]
    call.close()


def test_floats_keep_all_their_digits() -> None:
    """Floats are not rounded to float32, where a difference could vanish."""
    found = found_vectors([[1 + 1e-12, 0, 0], [0, 0, 0]], GOLDEN, several=False)
    assert found[0, 0] - 1 == pytest.approx(1e-12, rel=1e-3, abs=0)


def test_several_vectors_of_each_text_stand_below_each_other() -> None:
    """A text may have no vector at all."""
    found = found_vectors([[[1, 2, 3], [4, 5, 6]], []], GOLDEN, several=True)
    assert found.tolist() == [[1, 2, 3], [4, 5, 6]]


def test_integers_are_the_model_s_own() -> None:
    """JSON has no int8, so numbers outside of its range are named."""
    found = found_vectors([[1, -128, 3.0], [0, 0, 127]], INTEGERS, several=False)
    assert (found.dtype, found.tolist()) == (np.int8, [[1, -128, 3], [0, 0, 127]])
    for wrong in (128, 0.5, float("nan")):
        with pytest.raises(ValueError, match=r"row 1, element 2: .*, expected a whole number from"):
            found_vectors([[0, 0, 0], [0, 0, wrong]], INTEGERS, several=False)
