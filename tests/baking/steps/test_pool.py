"""Each pooling mode against its formula, one text and one element at a time."""

from __future__ import annotations

import math

import numpy as np
import pytest
from pydantic import ValidationError

from models.parts.tiny_state import state
from polybake.steps import Pool

X = np.random.default_rng(3).normal(size=(4, 5, 7)).astype(np.float32) - 2
MASK = np.array([[1, 1, 1, 1, 1], [1, 1, 0, 0, 0], [0, 0, 1, 1, 1], [0, 0, 0, 0, 1]])
TEXTS = [X[0], X[1, :2], X[2, 2:], X[3, 4:]]

FORMULAS = {
    "cls": lambda tokens: tokens[0],
    "max": lambda tokens: [max(element) for element in tokens.T],
    "mean": lambda tokens: [math.fsum(element) / len(tokens) for element in tokens.T],
    "mean_sqrt_len_tokens": lambda tokens: [
        math.fsum(element) / math.sqrt(len(tokens)) for element in tokens.T
    ],
    "weightedmean": lambda tokens: [
        math.fsum(place * value for place, value in enumerate(element, start=1))
        / (len(tokens) * (len(tokens) + 1) / 2)
        for element in tokens.T
    ],
    "lasttoken": lambda tokens: tokens[-1],
}


def expected(mode: str) -> np.ndarray:
    """Every text's vector, from its own tokens alone."""
    return np.array([FORMULAS[mode](tokens) for tokens in TEXTS])


@pytest.mark.parametrize("mode", FORMULAS)
def test_pools_the_tokens_of_each_text(run_step, mode: str, opset: int) -> None:
    """Padding on either side takes no part, at every opset, in both forms."""
    assert run_step(Pool(mode=mode), X, MASK, opset) == pytest.approx(expected(mode), abs=1e-6)
    assert Pool(mode=mode).numpy(state(X, MASK)).x == pytest.approx(expected(mode), abs=1e-6)


@pytest.mark.parametrize("mode", FORMULAS)
def test_nothing_kept_gives_zeros(run_step, mode: str) -> None:
    """A row without any token is the zero vector, not NaN or infinity, in both forms."""
    mask = np.where([[True], [False], [True], [True]], MASK, 0)
    kept = expected(mode) * [[1], [0], [1], [1]]
    assert run_step(Pool(mode=mode), X, mask) == pytest.approx(kept, abs=1e-6)
    assert Pool(mode=mode).numpy(state(X, mask)).x == pytest.approx(kept, abs=1e-6)


@pytest.mark.parametrize("modes", [("mean", "cls"), ("cls", "mean"), tuple(FORMULAS)])
def test_several_modes_stand_side_by_side(run_step, modes: tuple[str, ...], opset: int) -> None:
    """A list concatenates its modes in the order given."""
    whole = np.concatenate([expected(mode) for mode in modes], axis=1)
    assert run_step(Pool(mode=modes), X, MASK, opset) == pytest.approx(whole, abs=1e-6)
    assert Pool(mode=modes).numpy(state(X, MASK)).x == pytest.approx(whole, abs=1e-6)


def after_two(mode: str, tokens: np.ndarray) -> object:
    """The formula over all but the first two tokens; what it gives where none is left."""
    if len(tokens) > 2:
        if mode == "weightedmean":
            places = range(3, len(tokens) + 1)
            pairs = list(zip(places, tokens[2:], strict=True))
            return sum(place * token for place, token in pairs) / sum(places)
        return FORMULAS[mode](tokens[2:])
    return tokens[0] if mode == "cls" else np.zeros(7)


@pytest.mark.parametrize("mode", FORMULAS)
def test_leaves_out_a_prompt(run_step, mode: str, opset: int) -> None:
    """A prompt's tokens are the first of each text, not of the row; weights keep counting them.

    Where a prompt leaves nothing, cls takes the text's first token as sentence-transformers
    does.
    """
    step = Pool(mode=mode, include_prompt=False)
    rest = np.array([after_two(mode, tokens) for tokens in TEXTS])
    assert run_step(step, X, MASK, opset, prompt_length=2) == pytest.approx(rest, abs=1e-6)
    assert step.numpy(state(X, MASK, 2)).x == pytest.approx(rest, abs=1e-6)


@pytest.mark.parametrize("mode", FORMULAS)
def test_no_prompt_leaves_out_nothing(run_step, mode: str) -> None:
    """The length 0 is no prompt."""
    step = Pool(mode=mode, include_prompt=False)
    found = run_step(step, X, MASK, prompt_length=0)
    assert found == pytest.approx(expected(mode), abs=1e-6)


@pytest.mark.parametrize(
    ("mode", "shown"),
    [
        ("median", "unknown mode 'median'; choose from: 'cls', 'max', 'mean'"),
        (["mean", "median"], "unknown mode 'median'; choose from: 'cls'"),
        ([["mean"]], r"unknown mode \['mean'\]; choose from: 'cls'"),
        (None, "unknown mode None; choose from: 'cls'"),
        ([], "no mode is given; choose from: 'cls'"),
    ],
)
def test_refuses_unknown_modes(mode: object, shown: str) -> None:
    """A mode that is not there names the choices."""
    with pytest.raises(ValidationError, match=shown):
        Pool(mode=mode)
