"""A fixture is checked before any client is asked."""

from __future__ import annotations

import numpy as np
import pytest

from faulty.subject import make_fixture
from polybake.errors import InputError
from polybake.fixtures.case import Case, Fixture, encode_vectors
from polybake.manifest import Output
from polybake.verify.golden import decode_fixture

OUTPUT = Output(name="sentence_embedding", dimension=8)


def with_first_case(**changes: object) -> Fixture:
    """The fixture with another first case."""
    fixture = make_fixture()
    case: Case = fixture.cases[0].model_copy(update=changes)
    return fixture.model_copy(update={"cases": (case, *fixture.cases[1:])})


def test_vectors_are_decoded() -> None:
    """Every case has its float32 rows, one a text."""
    golden = decode_fixture(make_fixture(), ["cpu"], OUTPUT)
    assert [case.vectors.shape for case in golden.cases] == [(1, 8), (2, 8), (3, 8), (1, 8)]
    assert golden.cases[0].vectors.dtype == np.float32


@pytest.mark.parametrize(
    ("fixture", "says"),
    [
        (make_fixture().model_copy(update={"cases": ()}), "has no cases"),
        (make_fixture().model_copy(update={"tolerances": {}}), "no tolerance for cpu"),
        (with_first_case(id="two"), "case two: the id is taken"),
        (with_first_case(id="session"), "case session: the id is taken"),
        (with_first_case(texts=("a", "b")), "case one: 2 texts, 1 rows of ids and 1 vectors"),
        (
            with_first_case(embeddings=encode_vectors(np.full((1, 8), np.nan, np.float32))),
            "case one: a vector is not finite",
        ),
        (
            with_first_case(
                embeddings=make_fixture().cases[0].embeddings.model_copy(update={"data": "AAAA"})
            ),
            "case one: .*; write the fixture again",
        ),
    ],
)
def test_wrong_fixture_is_refused(fixture: Fixture, says: str) -> None:
    """A fixture that could not judge is an InputError that names the case."""
    with pytest.raises(InputError, match=says):
        decode_fixture(fixture, ["cpu"], OUTPUT)


@pytest.mark.parametrize(("length", "limit"), [(0.5, 1e-5), (30.0, 3e-4)])
def test_self_check_limit_follows_the_longest_row(length: float, limit: float) -> None:
    """The limit is max_abs, times the longest norm where that is above 1."""
    rows = np.zeros((1, 8), np.float32)
    rows[0, 0] = length
    fixture = with_first_case(embeddings=encode_vectors(rows))
    assert decode_fixture(fixture, ["cpu"], OUTPUT).self_check_limit("cpu") == pytest.approx(limit)
