"""The likely cause of a wrong vector."""

from __future__ import annotations

import numpy as np
import pytest

import polybake.testing
from faulty.subject import SubjectFiles
from polybake.verification.testing.cases import ServiceCase


@pytest.fixture
def cases(subject: SubjectFiles) -> dict[str, ServiceCase]:
    return {str(case): case for case in polybake.testing.golden_cases(subject.model)}


def said(case: ServiceCase, vectors: object) -> str:
    """The cause in a message, which stands behind the difference."""
    with pytest.raises(AssertionError) as raised:
        case.check(vectors)  # type: ignore[arg-type]
    return str(raised.value).partition("; ")[2]


def test_a_vector_that_is_not_normalized(cases: dict[str, ServiceCase]) -> None:
    """A vector of the right direction and another length was not normalised."""
    vectors = 3.5 * cases["two"].golden.vectors
    assert said(cases["two"], vectors).startswith(
        "the direction is right, but the vector is 3.5 long, expected 1: is it normalized"
    )


def test_a_vector_that_was_rounded(cases: dict[str, ServiceCase]) -> None:
    """Rounding to a few digits and to float16 is recognised."""
    for rounded in (np.round(cases["two"].golden.vectors, 3), np.float16):
        vectors = cases["two"].golden.vectors
        given = rounded if isinstance(rounded, np.ndarray) else vectors.astype(rounded)
        assert said(cases["two"], given).startswith("it is nearly right: is it rounded")


def test_rows_in_another_order(cases: dict[str, ServiceCase]) -> None:
    """A service that sorts texts by length must sort back."""
    vectors = cases["three"].golden.vectors[[0, 2, 1]]
    row = said(cases["three"], vectors)
    assert row.startswith(("it is the vector of row 1: ", "it is the vector of row 2: "))


def test_a_prompt_that_was_not_passed_on(cases: dict[str, ServiceCase]) -> None:
    """The same text without a prompt is another golden case, whose vector is recognised."""
    assert said(cases["query"], cases["one"].golden.vectors) == (
        "it is the vector with prompt None, expected that with 'query': is the prompt passed on?"
    )


def test_what_is_no_number(cases: dict[str, ServiceCase]) -> None:
    """An infinite element has no direction."""
    vectors = np.array(cases["two"].golden.vectors)
    vectors[1, 2] = np.inf
    assert said(cases["two"], vectors).startswith("look at the graph's output")


def test_anything_else_begins_with_the_ids(cases: dict[str, ServiceCase]) -> None:
    """Vectors of zeros and of another text have no known cause, so ids come first."""
    vectors = cases["two"].golden.vectors
    other_text = np.concatenate([cases["one"].golden.vectors, vectors[1:]])
    for wrong in (np.zeros((2, 8)), vectors[:, ::-1], other_text):
        assert said(cases["two"], wrong).startswith("compare token ids first (check_ids)")
