"""Vectors that stand beside wrong texts are put into the right order."""

from __future__ import annotations

import numpy as np
import pytest

from polybake.study.diagnose.order import order

OWN = np.random.default_rng(0).normal(size=(40, 16)).astype(np.float32)


def test_in_order() -> None:
    """Vectors in order stay in order, however long they are."""
    assert (order(3 * OWN, OWN) == np.arange(40)).all()


def test_any_other_order() -> None:
    """Each vector is matched to the model's own nearest vector, in any permutation."""
    other = np.random.default_rng(1).permutation(40)
    assert (order(OWN[other], OWN) == other).all()


@pytest.mark.parametrize("noise", [0.0, 0.3])
def test_shifted_by_one(noise: float) -> None:
    """A shift is found despite noise, and a vector without its text matches none of the others."""
    theirs = np.random.default_rng(2).normal(size=(40, 16)) * noise
    theirs[1:] += OWN[:-1]
    theirs[0] = np.random.default_rng(3).normal(size=16)
    assert (order(theirs, OWN)[1:] == np.arange(39)).all()
    assert order(theirs, OWN)[0] in (-1, 39)


def test_two_that_are_swapped() -> None:
    """Only the two swapped vectors are moved."""
    theirs = OWN.copy()
    theirs[[3, 9]] = OWN[[9, 3]]
    found = order(theirs, OWN)
    assert (found[3], found[9]) == (9, 3)
    assert (np.delete(found, [3, 9]) == np.delete(np.arange(40), [3, 9])).all()


@pytest.mark.parametrize("count", [3, 40])
def test_other_vectors_have_no_order(count: int) -> None:
    """Vectors of noise match rows by chance alone, so they have no order."""
    theirs = np.random.default_rng(4).normal(size=(count, 16))
    assert (order(theirs, OWN[:count]) == np.arange(count)).all()


def test_equal_texts_are_in_order() -> None:
    """Vectors of equal texts count as in order."""
    own = np.tile(OWN[:2], (10, 1))
    assert (order(own, own) == np.arange(20)).all()
