"""Routes against their formulas."""

from __future__ import annotations

import numpy as np
import pytest
from pydantic import ValidationError

from models.tiny_tokens import tokens
from polybake.errors import InputError
from polybake.steps import Dense, Normalize, Pool, Route, Scale, Step

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


def route(*names: str, **given: object) -> Route:
    return Route(
        **{"routes": {name: ROUTES[name][0] for name in names}, "default": names[0]} | given
    )


@pytest.mark.parametrize("count", [2, 3, 4])
def test_takes_the_steps_of_the_number(run_step, count: int) -> None:
    """Of two, three or four routes the one of that number alone is run."""
    step = route(*list(ROUTES)[:count])
    for number, (_, expected) in enumerate(list(ROUTES.values())[:count]):
        assert run_step(step, X, MASK, route=number) == pytest.approx(expected, abs=1e-6)
        found = step.numpy(X, tokens(MASK, route=number))
        assert found == pytest.approx(expected, abs=1e-6)


def test_works_at_every_opset(run_step, opset: int) -> None:
    """Branches have the opset of the graph around them."""
    step = Route(routes={"a": (Dense(weight=WEIGHT),), "b": (Dense(weight=-WEIGHT),)}, default="b")
    expected = np.tanh(X @ WEIGHT.T)
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
        assert step.numpy(x, tokens(mask, 3, number)) == pytest.approx(expected, abs=1e-6)


def test_a_prompt_takes_the_route_of_its_name() -> None:
    """Another name's route is given; every other prompt, and none, takes the default."""
    step = route("unit", "as it is", default="as it is", prompts={"passage": "unit"})
    numbers = {name: step.number(name) for name in ("unit", "as it is", "passage", "other", None)}
    assert numbers == {"unit": 0, "as it is": 1, "passage": 0, "other": 1, None: 1}


def test_refuses_other_sizes(run_step) -> None:
    """Every vector of a model has one size; the message names both."""
    step = Route(routes={"a": (Dense(weight=WEIGHT),), "b": (Normalize(),)}, default="a")
    with pytest.raises(InputError, match=r"a in \[batch,7\], b in \[batch,5\]; make them one"):
        run_step(step, X, MASK, route=0)


def test_names_the_step_that_does_not_fit(run_step) -> None:
    """The message begins with its place in its route."""
    step = Route(routes={"a": (Normalize(), Pool(mode="mean")), "b": ()}, default="a")
    with pytest.raises(InputError, match=r"^routes\.a\[1\]: pool needs token embeddings"):
        run_step(step, X, MASK, route=0)


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ({"default": "c"}, "unknown route 'c'; choose one of: unit, other"),
        ({"prompts": {"q": "c"}}, "unknown route 'c'"),
        ({"prompts": {"": "unit"}}, "has the empty name; name it"),
        ({"routes": {"unit": ()}}, "at least 2 items"),
        ({"routes": {"a": (route("unit", "other"),), "b": ()}}, "list all routes in one"),
    ],
)
def test_refuses_what_leads_nowhere(given: dict[str, object], shown: str) -> None:
    """Unknown routes, a single one, and routes within a route are errors."""
    with pytest.raises(ValidationError, match=shown):
        route("unit", "other", **given)


def test_reads_as_in_the_manifest() -> None:
    """Each route shows its steps."""
    assert str(route("unit", "as it is", prompts={"q": "unit"})) == (
        "route(unit: normalize(); as it is: none; prompt q: unit; default: unit)"
    )
