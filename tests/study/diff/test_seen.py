"""The figures of two files' vectors."""

from __future__ import annotations

import math

import numpy as np
import pytest

from polybake.base.modelfile.slack import Slack
from polybake.study.diff.seen import Seen
from polybake.verification.verdict import Stage


def test_the_figures_are_those_of_the_vectors() -> None:
    """The figures of one equal and one turned vector are those of a turn by 60 degrees."""
    seen = Seen(Stage.EMBED)
    before = np.array([[2.0, 0.0, 0.0]], np.float32)
    turned = np.array([[1.0, math.sqrt(3), 0.0]], np.float32)
    seen.add_vectors("same", before, before)
    seen.add_vectors("turned", before, turned)
    assert (seen.texts, seen.differing, seen.worst) == (2, 1, "turned")
    assert seen.largest == pytest.approx(math.sqrt(3) / 2)  # of a length of 2
    assert seen.cosines == pytest.approx((0.5, 0.505, 0.75))


def test_the_worst_text_is_kept() -> None:
    """The worst text is kept, wherever it stands."""
    seen = Seen(Stage.EMBED)
    before = np.array([[1.0, 0.0, 0.0]], np.float32)
    for name, shift in (("little", 0.1), ("most", 0.3), ("less", 0.2)):
        seen.add_vectors(name, before, before + np.float32(shift))
    assert seen.worst == "most"


def test_a_text_of_white_space_is_the_worst_only_where_no_other_differs() -> None:
    """A blank text teaches nobody what differs, so any other text is preferred."""
    seen = Seen(Stage.EMBED)
    before = np.array([[1.0, 0.0, 0.0]], np.float32)
    worst = []
    for name, shift in (("", 0.9), ("shown", 0.1), (" ", 0.8)):
        seen.add_vectors(name, before, before + np.float32(shift))
        worst.append(seen.worst)
    assert worst == ["", "shown", "shown"]


def test_within_the_tolerance_is_the_same() -> None:
    """A small difference counts as equal, and its size is still told."""
    seen = Seen(Stage.EMBED)
    before = np.array([[1.0, 0.0, 0.0]], np.float32)
    seen.add_vectors("a", before, before + np.float32(5e-6))
    assert (seen.differing, seen.worst) == (0, None)
    assert seen.largest == pytest.approx(5e-6, rel=0.1)


def test_another_number_of_vectors_differs() -> None:
    """A text differs if one file gives it fewer vectors, as when it leaves tokens out."""
    seen = Seen(Stage.EMBED)
    seen.add_vectors("a", np.ones((3, 4), np.float32), np.ones((2, 4), np.float32))
    assert (seen.texts, seen.differing, seen.worst) == (1, 1, "a")


def test_what_is_no_number_differs_most() -> None:
    """NaN counts as an infinite difference and has no cosine."""
    seen = Seen(Stage.EMBED)
    before = np.ones((1, 3), np.float32)
    seen.add_vectors("nan", before, before * np.float32("nan"))
    seen.add_vectors("far", before, -before)
    assert (seen.differing, seen.worst, seen.largest) == (2, "nan", math.inf)
    assert seen.cosines == pytest.approx((-1, -1, -1))


def test_zeros_have_no_direction() -> None:
    """A text without tokens is zeros in both files, and equal."""
    seen = Seen(Stage.EMBED)
    seen.add_vectors("", np.zeros((1, 3), np.float32), np.zeros((1, 3), np.float32))
    assert (seen.differing, seen.cosines) == (0, None)


def test_integers_differ_by_more_than_their_slack() -> None:
    """Integers without slack differ by any step; those with slack by more than it."""
    seen = Seen(Stage.EMBED, integers=True)
    before, after = np.array([[5, 5]], np.int8), np.array([[6, 5]], np.int8)
    seen.add_vectors("edge", before, after, Slack(np.array([[1, 0]], np.uint8), packed_bits=False))
    assert (seen.differing, seen.largest, seen.unit) == (0, 1, "steps")
    seen.add_vectors("wrong", before, after)
    assert (seen.differing, seen.worst) == (1, "wrong")


def test_packed_bits_are_counted() -> None:
    """Three bits of one byte count as three, and bytes have no cosine."""
    seen = Seen(Stage.EMBED, integers=True, packed_bits=True)
    seen.add_vectors("a", np.array([[0b0111]], np.uint8), np.array([[0b0000]], np.uint8))
    assert (seen.differing, seen.largest, seen.unit, seen.cosines) == (1, 3, "bits", None)
