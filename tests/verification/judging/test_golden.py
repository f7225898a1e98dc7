"""A fixture is checked before any client is asked."""

from __future__ import annotations

import numpy as np
import pytest

from faulty.subject import OUTPUTS, make_fixture
from polybake.base.modelfile.fixture import Case, Fixture, encode_vectors
from polybake.errors import InputError
from polybake.verification.judging.golden import decode_fixture

OUTPUT = OUTPUTS["float32"]


def with_first_case(**changes: object) -> Fixture:
    """The fixture with another first case."""
    fixture = make_fixture()
    case: Case = fixture.cases[0].model_copy(update=changes)
    return fixture.model_copy(update={"cases": (case, *fixture.cases[1:])})


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


def test_integers_have_their_slack() -> None:
    """Cases of a quantized model have integers, and how far each may differ."""
    golden = decode_fixture(make_fixture(OUTPUTS["int8"]), ["cpu"], OUTPUTS["int8"])
    case = golden.cases[1]
    assert case.vectors.dtype == np.int8
    assert case.slack is not None
    assert case.slack.values.sum() == case.slack.values[0, 0] == 1
    assert golden.self_check_limit("cpu") == 1


@pytest.mark.parametrize(
    ("made", "gives"), [("float32", "int8"), ("int8", "float32"), ("int8", "ubinary")]
)
def test_a_fixture_of_another_precision_is_refused(made: str, gives: str) -> None:
    """A fixture from before the model was quantized, or without its slack, cannot judge it."""
    with pytest.raises(InputError, match=r"case one: .* vectors, and the model gives .*8 "):
        decode_fixture(make_fixture(OUTPUTS[made]), ["cpu"], OUTPUTS[gives])
    bare = make_fixture(OUTPUTS["int8"]).cases[0].embeddings.model_copy(update={"slack": None})
    with pytest.raises(InputError, match="case one: int8 vectors have no slack"):
        decode_fixture(with_first_case(embeddings=bare), ["cpu"], OUTPUTS["int8"])


@pytest.mark.parametrize(("length", "limit"), [(0.5, 1e-5), (30.0, 3e-4)])
def test_self_check_limit_follows_the_longest_row(length: float, limit: float) -> None:
    """The limit is max_abs, times the longest norm where that is above 1."""
    rows = np.zeros((1, 8), np.float32)
    rows[0, 0] = length
    fixture = with_first_case(embeddings=encode_vectors(rows))
    assert decode_fixture(fixture, ["cpu"], OUTPUT).self_check_limit("cpu") == pytest.approx(limit)
