"""Leaving tokens of some ids out."""

from __future__ import annotations

import numpy as np
import pytest
from pydantic import ValidationError

from polybake.errors import InputError
from polybake.steps import LeaveOut, Pool, State

X = np.random.default_rng(3).normal(size=(3, 4, 5)).astype(np.float32)
IDS = np.array([[7, 1, 3, 0], [1, 3, 1, 1], [2, 3, 1, 0]])
MASK = np.array([[1, 1, 1, 0], [1, 1, 1, 1], [1, 1, 1, 0]])
EXPECTED = np.stack([X[0, 0], np.zeros(5), X[2, 0]])


def test_later_steps_do_not_see_the_tokens(run_steps, opset: int) -> None:
    """Tokens of the named ids are padding for the pooling; a text of nothing else gives zeros."""
    steps = [LeaveOut(ids=(1, 3)), Pool(mode="mean")]
    given = state = State(X, IDS, MASK)
    assert run_steps(steps, given, opset) == pytest.approx(EXPECTED, abs=1e-6)
    for step in steps:
        state = step.numpy(state)
    assert state.x == pytest.approx(EXPECTED, abs=1e-6)
    assert given.attention_mask is MASK


@pytest.mark.parametrize("ids", [(), (-1,), (2**63,), (10**30,), "unk", None])
def test_refuses_what_is_no_list_of_ids(ids: object) -> None:
    """No ids, negative ones, those that int64 cannot hold, and names are refused."""
    with pytest.raises(ValidationError):
        LeaveOut(ids=ids)


def test_names_its_place(run_steps) -> None:
    """The step is refused behind the pooling, where there are no tokens left."""
    with pytest.raises(InputError, match=r"leave_out takes token embeddings .*\[batch,5\]; put it"):
        run_steps([Pool(mode="mean"), LeaveOut(ids=(1,))], State(X, IDS, MASK), 18)


def test_reads_as_in_the_manifest() -> None:
    """The step shows its ids."""
    assert str(LeaveOut(ids=(1,))) == "leave_out(ids=(1,))"
