"""Routes against their formulas."""

from __future__ import annotations

import numpy as np
import pytest
from pydantic import ValidationError

from models.parts.tiny_state import state
from polybake.errors import InputError
from polybake.steps import (
    Dense,
    Hybrid,
    LeaveOut,
    Normalize,
    Pool,
    Route,
    Scale,
    State,
    Step,
)

X = np.random.default_rng(4).normal(size=(3, 5)).astype(np.float32)
MASK = np.ones((3, 2), np.int64)
WEIGHT = np.random.default_rng(5).normal(size=(7, 5)).astype(np.float32)

UNIT = X / np.sqrt((X**2).sum(axis=1, keepdims=True))
#: Each route's steps, and what they give of `X`.
ROUTES: dict[str, tuple[tuple[Step, ...], np.ndarray]] = {
    "unit": ((Normalize(),), UNIT),
    "as it is": ((), X),
    "scaled": ((Scale(factor=2.0), Scale(factor=-1.5)), -3 * X),
    "other": ((Scale(factor=0.5), Normalize()), UNIT),
}


HYBRID = Hybrid(
    dense=(Pool(mode="cls"),),
    weight=Dense(weight=WEIGHT[:1]),
    unweighted=(0,),
    vector=(Normalize(),),
)


def route(*names: str, **given: object) -> Route:
    return Route(
        **{"routes": {name: ROUTES[name][0] for name in names}, "default": names[0]} | given
    )


@pytest.mark.parametrize("count", [2, 3, 4])
def test_takes_the_steps_of_the_number(run_step, count: int) -> None:
    """Only the route of the given number runs, among two, three or four."""
    step = route(*list(ROUTES)[:count])
    for number, (_, expected) in enumerate(list(ROUTES.values())[:count]):
        assert run_step(step, X, MASK, route=number) == pytest.approx(expected, abs=1e-6)
        found = step.numpy(state(X, MASK, route=number)).x
        assert found == pytest.approx(expected, abs=1e-6)


def test_works_at_every_opset(run_step, opset: int) -> None:
    """Branches have the opset of the graph around them, and steps weights of their own."""
    twice = (Dense(weight=WEIGHT), Dense(weight=WEIGHT.T))
    step = Route(routes={"a": twice, "b": (Dense(weight=-WEIGHT), twice[1])}, default="b")
    expected = np.tanh(np.tanh(X @ WEIGHT.T) @ WEIGHT)
    assert run_step(step, X, MASK, opset, route=0) == pytest.approx(expected, abs=1e-6)
    assert run_step(step, X, MASK, opset, route=1) == pytest.approx(-expected, abs=1e-6)


def test_pools_in_its_own_way(run_step) -> None:
    """A route may pool, and leave out a prompt where the other does not."""
    x = np.random.default_rng(6).normal(size=(2, 4, 5)).astype(np.float32)
    without, whole = (Pool(mode="mean", include_prompt=included) for included in (False, True))
    step = Route(routes={"query": (without,), "document": (whole,)}, default="query")
    mask = np.ones((2, 4), np.int64)
    for number, first in ((0, 3), (1, 0)):
        expected = x[:, first:].mean(axis=1)
        found = run_step(step, x, mask, prompt_length=3, route=number)
        assert found == pytest.approx(expected, abs=1e-6)
        assert step.numpy(state(x, mask, 3, number)).x == pytest.approx(expected, abs=1e-6)


def test_what_a_route_tells_reaches_the_steps_behind_it(run_steps) -> None:
    """A mask of one route counts for the pooling that all routes share."""
    x = np.random.default_rng(6).normal(size=(2, 3, 5)).astype(np.float32)
    ids = np.array([[1, 2, 1], [2, 2, 0]])
    step = Route(routes={"all": (), "rest": (LeaveOut(ids=(1,)),)}, default="rest")
    mask = (ids > 0).astype(np.int64)
    counts = {0: mask.astype(np.float32), 1: (ids == 2).astype(np.float32)}
    for number, weight in counts.items():
        expected = (x * weight[:, :, None]).sum(axis=1) / weight.sum(axis=1, keepdims=True)
        given = State(x, ids, mask, route=np.array([number]))
        assert run_steps([step, Pool(mode="mean")], given) == pytest.approx(expected, abs=1e-6)
        found = Pool(mode="mean").numpy(step.numpy(given)).x
        assert found == pytest.approx(expected, abs=1e-6)


def test_says_what_its_steps_are() -> None:
    """A route step pools where one of its steps does, and reads their inputs and its own number."""
    without = Pool(mode="mean", include_prompt=False)
    step = Route(routes={"a": (without,), "b": (Pool(mode="cls"),)}, default="b")
    assert step.pools
    assert not route("unit", "other").pools
    values = step.prompt_values({"a": "a b", "c": ""}, str.split)
    assert values == {"prompt_length": {"": 0, "a": 2, "c": 0}, "route": {"": 1, "a": 0, "c": 1}}


def test_a_prompt_takes_the_route_of_its_name() -> None:
    """A prompt takes the route of its name or the one set for it; all others the default."""
    step = route("unit", "as it is", default="as it is", prompts={"passage": "unit"})
    numbers = {name: step.number(name) for name in ("unit", "as it is", "passage", "other", None)}
    assert numbers == {"unit": 0, "as it is": 1, "passage": 0, "other": 1, None: 1}


def test_names_the_step_that_does_not_fit(run_step) -> None:
    """The message begins with the step's place in its route."""
    step = Route(routes={"a": (Normalize(), Pool(mode="mean")), "b": ()}, default="a")
    with pytest.raises(InputError, match=r"^routes\.a\[1\]: pool needs token embeddings"):
        run_step(step, X, MASK, route=0)


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ({"prompts": {"q": "c"}}, "unknown route 'c'; choose one of: unit, other"),
        ({"prompts": {"": "unit"}}, "has the empty name"),
        ({"routes": {"unit": ()}}, "at least 2 items"),
        ({"routes": {"a": (HYBRID,), "unit": ()}}, "a route holds a hybrid step"),
    ],
)
def test_refuses_what_leads_nowhere(given: dict[str, object], shown: str) -> None:
    """Unknown routes, a single one, and three outputs are errors."""
    with pytest.raises(ValidationError, match=shown):
        route("unit", "other", **given)


def test_reads_as_in_the_manifest() -> None:
    """Each route shows its steps."""
    assert str(route("unit", "as it is", prompts={"q": "unit"})) == (
        "route(unit: normalize(); as it is: none; prompt q: unit; default: unit)"
    )
