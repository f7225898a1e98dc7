"""Steps that weigh tokens, leave them out or pool their weights, against their formulas."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from pydantic import ValidationError

from polybake.steps import (
    LeaveOut,
    LeaveOutEnds,
    Pool,
    Splade,
    State,
    Step,
    Unpad,
    WordWeights,
)

X = np.random.default_rng(3).normal(size=(4, 5, 3)).astype(np.float32)
#: Rows padded on the right and on the left, one whole, and one that is padding alone.
MASK = np.array([[1, 1, 1, 0, 0], [0, 1, 1, 1, 1], [1, 1, 1, 1, 1], [0, 0, 0, 0, 0]])
IDS = np.array([[2, 1, 3, 0, 0], [0, 1, 3, 1, 1], [2, 3, 1, 2, 2], [0, 0, 0, 0, 0]])
GIVEN = State(X, IDS, MASK)
PLACES = [[place for place in range(5) if row[place]] for row in MASK]
WEIGHTS = np.array([9, 0.5, 2, 0.25], np.float32)


def weighed(of_place: int, of_sum: float) -> np.ndarray:
    """The sum of weighted tokens, by a power of their places and of the sum of weights."""
    found = np.zeros((4, 3))
    for row, places in enumerate(PLACES):
        total = math.fsum(WEIGHTS[IDS[row, place]] for place in places)
        for number, place in enumerate(places, start=1):
            weight = WEIGHTS[IDS[row, place]] * number**of_place
            found[row] += X[row, place] * weight / total**of_sum
    return found


def pooled(pool: Callable[[Sequence[float]], float], times: int) -> np.ndarray:
    """Each element of all tokens, the logarithm of 1 and its positive part taken so many times."""

    def weight(x: float) -> float:
        found = max(x, 0.0)
        for _ in range(times):
            found = math.log1p(found)
        return found

    found = np.zeros((4, 3))
    for row, places in enumerate(PLACES[:3]):
        found[row] = [pool([weight(float(one)) for one in X[row, places, n]]) for n in range(3)]
    return found


def kept(*places: Sequence[int]) -> np.ndarray:
    """The tokens at these places of each text, one below another."""
    return np.concatenate([X[row, list(each)] for row, each in enumerate(places)])


#: Each chain of steps, what it gives, and how many vectors of each text it keeps.
CHAINS: dict[str, tuple[list[Step], np.ndarray, list[int] | None]] = {
    "leave_out": (
        [LeaveOut(ids=(1, 3)), Pool(mode="mean")],
        np.stack([X[0, 0], np.zeros(3), X[2, [0, 3, 4]].mean(axis=0), np.zeros(3)]),
        None,
    ),
    "leave_out, unpad": (
        [LeaveOut(ids=(1,)), Unpad()],
        kept([0, 2], [2], [0, 1, 3, 4], []),
        [2, 1, 4, 0],
    ),
    "leave_out_ends": (
        [LeaveOutEnds(first=1, last=1), Unpad()],
        kept([1], [2, 3], [1, 2, 3], []),
        [1, 2, 3, 0],
    ),
    "leave_out_ends of more than there are": (
        [LeaveOutEnds(first=0, last=4), Unpad()],
        kept([], [], [0], []),
        [0, 0, 1, 0],
    ),
    "word_weights": (
        [WordWeights(weights=WEIGHTS)],
        X * (WEIGHTS[IDS] * MASK)[:, :, None],
        None,
    ),
    **{
        f"word_weights, {mode}": (
            [WordWeights(weights=WEIGHTS), Pool(mode=mode)],
            weighed(of_place, of_sum),
            None,
        )
        for mode, of_place, of_sum in (
            ("mean", 0, 1),
            ("mean_sqrt_len_tokens", 0, 0.5),
            ("weightedmean", 1, 1),
        )
    },
    **{
        f"splade, {name}, {activation}": (
            [Splade(pooling=name, activation=activation)],
            pooled(pool, times),
            None,
        )
        for name, pool in (("max", max), ("sum", math.fsum))
        for activation, times in (("relu", 1), ("log1p_relu", 2))
    },
}


@pytest.mark.parametrize("name", CHAINS)
def test_both_forms_are_the_formula(run_steps, name: str, opset: int) -> None:
    """Padding on either side takes no part, and a text without tokens gives zeros, or nothing."""
    steps, expected, counts = CHAINS[name]
    assert run_steps(steps, GIVEN, opset) == pytest.approx(expected, abs=1e-6)
    state = GIVEN
    for step in steps:
        state = step.numpy(state)
    assert state.x == pytest.approx(expected, abs=1e-6)
    assert (None if state.counts is None else state.counts.tolist()) == counts
    assert GIVEN.attention_mask is MASK


@pytest.mark.parametrize(
    ("step", "parameters"),
    [
        *((LeaveOut, {"ids": ids}) for ids in ((), (-1,), (2**63,), (10**30,), "unk", None)),
        *((LeaveOutEnds, one) for one in ({"first": -1}, {"last": 1.5}, {"last": "1"})),
        (LeaveOutEnds, {"ends": 1}),
        (Splade, {"pooling": "mean"}),
        (Splade, {"activation": "gelu"}),
    ],
)
def test_wrong_parameters_are_named(step: type[Step], parameters: dict[str, object]) -> None:
    """Before anything is built."""
    with pytest.raises(ValidationError, match=next(iter(parameters))):
        step(**parameters)


@pytest.mark.parametrize(
    ("step", "shown"),
    [
        (LeaveOut(ids=(1,)), "leave_out(ids=(1,))"),
        (WordWeights(weights=WEIGHTS), "word_weights(weights=4)"),
        (Pool(mode="mean"), "pool(mode=mean)"),
        (Pool(mode=["mean", "cls"]), "pool(mode=mean+cls)"),
        (Pool(mode="max", include_prompt=False), "pool(mode=max, include_prompt=False)"),
    ],
)
def test_reads_as_in_the_manifest(step: Step, shown: str) -> None:
    """With its parameters, and no numbers of weights."""
    assert str(step) == shown
