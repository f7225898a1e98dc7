"""Vectors that stand beside wrong texts: their order is found, and told in words."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from polybake.runtime.embedder import Embedder
from polybake.runtime.prompt import Prompt
from polybake.study.diagnose.diagnose import Diagnosis, diagnose
from polybake.study.diagnose.row_order import described, order

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


ROWS = np.arange(400)
NONE = ROWS[:0]
BATCHES = np.concatenate([ROWS[first : first + 32][::-1] for first in range(0, 400, 32)])
SWAPPED = ROWS.copy()
SWAPPED[[299, 301]] = [301, 299]
#: The text that each row holds, and what is said of it.
CASES = {
    "shifted": (
        [*range(301), *range(300, 399)],
        (
            "from row 302 on, each is the previous text's",
            "the vector of text 301 stands in rows 301 and 302",
            "the vector of text 400 is lost",
        ),
    ),
    "lost": (
        [*range(140), *range(141, 400), -1],
        (
            "rows 141 to 399 are each the next text's",
            "row 400 is none of these texts'",
            "the vector of text 141 is lost",
        ),
    ),
    "rolled": (
        np.roll(ROWS, 1),
        ("row 1 is text 400's", "from row 2 on, each is the previous text's"),
    ),
    "reversed batches": (BATCHES, ("batches of 32 are reversed",)),
    "reversed": (ROWS[::-1], ("all rows are in reverse order",)),
    "swapped": (SWAPPED, ("rows 300 and 302 are swapped",)),
    "far": (
        [*range(100), *range(97, 397)],
        (
            "from row 101 on, each is that of the text 3 places before",
            "the vectors of texts 98, 99 and 100 stand in several rows",
            "the vectors of texts 398, 399 and 400 are lost",
        ),
    ),
    "in order": (ROWS, ()),
}


@pytest.mark.parametrize("name", CASES)
def test_the_order_is_named(name: str) -> None:
    """Shifts, swaps and losses are described by rows and texts, counted from 1."""
    found, lines = CASES[name]
    assert described(np.asarray(found), NONE) == lines


def test_any_other_order_is_shown() -> None:
    """An order without a pattern is shown by its first rows."""
    found = np.random.default_rng(0).permutation(400)
    (line,) = described(found, NONE)
    assert line.endswith("and so on")
    assert f"row 1 is text {found[0] + 1}'s" in line


@pytest.fixture(scope="module")
def many() -> list[str]:
    """Texts of which no two have the same vector."""
    words = ["water", "river", "boat", "sails,", "on", "boats"]
    return [" ".join(words[one // 6**place % 6] for place in range(4)) for one in range(400)]


@pytest.mark.parametrize("name", ["shifted", "lost", "reversed batches", "swapped"])
def test_vectors_in_another_order_are_named(name: str, many: list[str], prompted: Path) -> None:
    """Moved vectors are explained by their order alone, wherever it changes."""
    found = _diagnosed(prompted, many, np.asarray(CASES[name][0]))
    assert (found.verdict, found.astray, found.found) == ("explained", CASES[name][1], ())


def test_the_same_is_said_of_all_rows(many: list[str], prompted: Path) -> None:
    """All rows are compared, not a sample."""
    assert _diagnosed(prompted, many, ROWS).verdict == "same"


@pytest.mark.parametrize(
    ("zeros", "line"),
    [
        ([12], "row 13 is zeros"),
        ([3, 300], "rows 4 and 301 are zeros"),
        (ROWS, "all rows are zeros"),
    ],
    ids=["one", "two", "all"],
)
def test_zeros_are_called_so(zeros: list[int], line: str, many: list[str], prompted: Path) -> None:
    """Rows of zeros are named, and they explain the gap."""
    own = Embedder(prompted).embed(many, prompt="document")
    own[zeros] = 0
    found = diagnose(prompted, many, own, Prompt(role="document"))
    assert (found.verdict, found.astray, found.found) == ("explained", (line,), ())


def _diagnosed(model: Path, many: list[str], rows: np.ndarray) -> Diagnosis:
    """Diagnose the vectors in this order; -1 is the vector of another text."""
    own = Embedder(model).embed([*many, "the river the boat"], prompt="document")
    return diagnose(model, many, own[rows], Prompt(role="document"))
