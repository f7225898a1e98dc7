"""The note on clients that fail only in calls of several texts."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from faulty.subject import OUTPUTS, SubjectFiles
from polybake.verification.judging.batch_faults import batch_fault
from polybake.verification.judging.golden import Golden, decode_fixture
from polybake.verification.verdict import SESSION, Stage, Status, Verdict

SEVERAL = ("two", "three")


@pytest.fixture
def golden(subject: SubjectFiles) -> Golden:
    """Two cases of one text, and two of several."""
    return decode_fixture(subject.fixture, ["cpu"], OUTPUTS["float32"])


def verdicts(golden: Golden, *failed: str, many: Status = Status.FAIL) -> list[Verdict]:
    """Verdicts on embed, of which the named cases failed, and on the list of many texts."""
    return [
        *(
            Verdict(
                "tiny",
                "cpu",
                one.case.id,
                Stage.EMBED,
                Status.FAIL if one.case.id in failed else Status.PASS,
            )
            for one in golden.cases
        ),
        Verdict("tiny", "cpu", SESSION, Stage.BATCHES, many),
    ]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda rows: rows[::-1], "their vectors are in another order"),
        (lambda rows: rows[[0] * len(rows)], "their vectors are in another order"),
        (lambda rows: rows + 0.01, "padding; look at the mask"),
    ],
)
def test_padding_is_told_from_order(
    golden: Golden, change: Callable[[NDArray[np.float32]], NDArray[np.float32]], says: str
) -> None:
    """Right vectors at wrong places point at the order, and not at padding."""
    vectors = {one.case.id: change(one.vectors) for one in golden.cases}
    found = batch_fault(golden, verdicts(golden, *SEVERAL), vectors)
    assert found is not None
    assert says in found


def test_what_fails_between_batches_alone(golden: Golden) -> None:
    """If every case passes, only a list of several batches shows the fault."""
    found = batch_fault(golden, verdicts(golden), {})
    assert found is not None
    assert found.startswith("only a list of several batches fails: ")


def test_nothing_is_said_of_other_faults(golden: Golden) -> None:
    """No note is given if single texts fail, if nothing does, or if errors explain it."""
    assert batch_fault(golden, verdicts(golden, "one", *SEVERAL), {}) is None
    assert batch_fault(golden, verdicts(golden, many=Status.PASS), {}) is None
    assert batch_fault(golden, verdicts(golden, many=Status.ERROR), {}) is None
