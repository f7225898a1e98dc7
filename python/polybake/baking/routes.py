"""The input by which a model takes a route: ONNX's own, fed from the prompt's name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from polybake.errors import InputError
from polybake.modelfile.manifest import Input
from polybake.steps import Route, Step

#: The graph's input, int64 ``[1]``.
NAME = "route"


def route_step(steps: Sequence[Step]) -> Route | None:
    """The step that takes a route, where there is one.

    Raises:
        InputError: there are more.
    """
    found = [step for step in steps if isinstance(step, Route)]
    if len(found) > 1:
        raise InputError(f"steps: {len(found)} are route steps; put their routes into one")
    return found[0] if found else None


def with_routes(prompts: Mapping[str, str], step: Route | None) -> dict[str, str]:
    """The prompts, and an empty one of its own name for each route that no prompt takes."""
    if step is None:
        return dict(prompts)
    taken = set(map(step.number, prompts))
    return {
        **prompts,
        **{name: "" for number, name in enumerate(step.routes) if number not in taken},
    }


def route_input(prompts: Mapping[str, str], default_prompt: str | None, step: Route) -> Input:
    """Say which route each prompt takes, for the contract.

    Raises:
        InputError: calls that name no prompt would take the default prompt's route, where
            sentence-transformers takes the default route.
    """
    values = {name: step.number(name) for name in prompts}
    default = step.number(None)
    if default_prompt is not None and values[default_prompt] != default:
        raise InputError(
            f"default prompt {default_prompt!r} takes route "
            f"{list(step.routes)[values[default_prompt]]!r}, and the default route is "
            f"{step.default!r}; make them one, or name no default prompt"
        )
    return Input(name=NAME, feed="prompt_value", values={"": default, **values})
