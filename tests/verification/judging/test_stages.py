"""The judge's verdict on the answer to one stage, beside what the planted faults show."""

from __future__ import annotations

import base64
from dataclasses import replace
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from polybake.base.modelfile.fixture import Case, encode_vectors
from polybake.base.modelfile.tolerance import TOLERANCES
from polybake.verification.harness.protocol import Places
from polybake.verification.judging.golden import GoldenCase
from polybake.verification.judging.stages import judge_case, judge_self_check
from polybake.verification.verdict import Stage, Status

CPU = TOLERANCES["cpu"]


def golden(vectors: np.ndarray) -> GoldenCase:
    rows = len(vectors)
    case = Case(
        id="case",
        why="It is judged.",
        texts=("t",) * rows,
        input_ids=((1, 2),) * rows,
        embeddings=encode_vectors(vectors),
    )
    return GoldenCase(case, vectors, None)


def answered(vectors: np.ndarray) -> dict[str, object]:
    data = base64.b64encode(vectors.tobytes()).decode("ascii")
    return {"dtype": vectors.dtype.name, "shape": list(vectors.shape), "data": data}


def test_each_output_is_judged() -> None:
    """Of several outputs each is compared by its name, and the message has the one that differs."""
    arrays = [np.ones((1, 2), np.float32), np.ones((3, 1), np.float32), np.ones((3, 2), np.float32)]
    first, *further = (
        replace(golden(array), output=name) for name, array in zip("abc", arrays, strict=True)
    )
    several = replace(first, further=tuple(further))
    right = {name: answered(array) for name, array in zip("abc", arrays, strict=True)}
    outcome = judge_case(Stage.EMBED, several, [right], CPU)
    assert (outcome.status, outcome.difference) == (Status.PASS, 0.0)
    for name, array in zip("abc", arrays, strict=True):
        wrong = {**right, name: answered(array + np.float32(0.01))}
        outcome = judge_case(Stage.EMBED_IDS, several, [wrong], CPU)
        assert outcome.status is Status.FAIL
        assert outcome.message.startswith(f"{name}: row 0, element 0: difference 0.01")
        less = {key: one for key, one in right.items() if key != name}
        assert judge_case(Stage.EMBED, several, [less], CPU).status is Status.ERROR


def asked(call: dict[str, Any], answer: Any) -> GoldenCase:
    """A case whose task has this answer of its own."""
    one = golden(np.ones((1, 2), np.float32))
    return replace(one, case=one.case.model_copy(update={"call": call, "answer": answer}))


@pytest.mark.parametrize(("places", "start"), [*zip(get_args(Places), (2, 3, 5), strict=True)])
def test_places_are_those_of_the_client_s_strings(places: Places, start: int) -> None:
    """Each context and each aggregation is asked for alone, and places are as the client counts."""
    text = "a\U0001f600b"
    span = {"text": "b", "score": 0.5, "start": 2, "end": 3}
    given = span | {"start": start, "end": start + 1}
    answers = asked({"question": "?", "contexts": [text, "b"]}, [[span], []])
    tags = asked({"texts": [text], "aggregations": ["first", "max"]}, [[[span]], [[]]])
    for case, right in ((answers, [[given], []]), (tags, [[[given]], [[]]])):
        assert judge_case(Stage.CALL, case, right, CPU, places).status is Status.PASS
        for other in {*get_args(Places)} - {places}:
            assert judge_case(Stage.CALL, case, right, CPU, other).status is Status.FAIL


def test_the_heaviest_of_all_weights_are_judged() -> None:
    """A client gives weights in any order; what is no weight is a difference, not an error."""
    heavy, light = {"index": 7, "score": 0.5}, {"index": 3, "score": 0.25}
    case = asked({"texts": ["a"], "top": 1}, [{"weights": [heavy], "rows": 2}])
    for weights, status in (
        ([light, heavy], Status.PASS),
        ([light], Status.FAIL),
        ([light, heavy | {"score": "much"}], Status.FAIL),
        ([None], Status.FAIL),
    ):
        found = [[{"weights": weights, "rows": 2}]]
        assert judge_case(Stage.CALL, case, found, CPU).status is status


@given(hnp.arrays(np.float32, (2, 3), elements=st.floats(-1, 1, width=32)))
def test_equal_vectors_pass_and_come_back_exactly(array: np.ndarray) -> None:
    """Vectors are kept bit by bit, to be compared between languages."""
    outcome = judge_case(Stage.EMBED, golden(array), [answered(array)], CPU)
    assert (outcome.status, outcome.difference) == (Status.PASS, 0.0)
    assert outcome.vectors is not None
    assert outcome.vectors.tobytes() == array.tobytes()


@pytest.mark.parametrize(
    ("found", "status"),
    [
        (0.0, Status.PASS),
        (1e-5, Status.PASS),
        (1.1e-5, Status.FAIL),
        (-1e-9, Status.FAIL),
        (float("nan"), Status.ERROR),
        ("0", Status.ERROR),
        (None, Status.ERROR),
    ],
)
def test_a_self_check_gives_a_difference_within_the_limit(found: object, status: Status) -> None:
    """A difference is a number that is not negative; a text is refused."""
    assert judge_self_check(found, 1e-5).status is status
