"""Take other steps for other prompts."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import ClassVar, Self

from onnxscript import OpBuilder, ir
from pydantic import Field, field_validator, model_validator

from polybake.baking.graph.branches import branch, choose, within
from polybake.baking.steps.state import Arrays, Values
from polybake.baking.steps.step import Step
from polybake.errors import InputError


class Route(Step):
    """Run the steps of one route: that of the prompt.

    Attributes:
        routes: Each route's steps by its name, two routes or more. A prompt takes the route of
            its own name.
        default: The route of calls without a prompt, and of every other prompt.
        prompts: The route of a prompt by the prompt's name, where the names differ.

    Source: sentence-transformers ``Router``, formerly ``Asym``.
    """

    name: ClassVar[str] = "route"

    routes: dict[str, tuple[Step, ...]] = Field(min_length=2)
    default: str
    prompts: dict[str, str] = Field(default_factory=dict)

    @field_validator("routes")
    @classmethod
    def _are_of_plain_steps(
        cls, routes: dict[str, tuple[Step, ...]]
    ) -> dict[str, tuple[Step, ...]]:
        inner = [step for steps in routes.values() for step in steps]
        if any(step.inner for step in inner):
            raise ValueError("a route holds a route step; list all routes in one")
        for step in inner:
            if step.final:
                raise ValueError(f"a route holds a {step.name} step; put one after the route step")
        return routes

    @model_validator(mode="after")
    def _routes_are_known(self) -> Self:
        if "" in self.prompts or "" in self.routes:
            raise ValueError("a route or a prompt has the empty name; name it")
        for name in (self.default, *self.prompts.values()):
            if name not in self.routes:
                raise ValueError(f"unknown route {name!r}; choose one of: {', '.join(self.routes)}")
        return self

    @property
    def inner(self) -> Mapping[str, tuple[Step, ...]]:
        """The steps of each route."""
        return self.routes

    def number(self, prompt: str | None) -> int:
        """Return the place among ``routes`` of the route that a prompt takes."""
        own = self.prompts.get(prompt or "", prompt)
        return list(self.routes).index(own if own in self.routes else self.default)

    def prompt_values(
        self, prompts: Mapping[str, str], token_ids: Callable[[str], list[int]]
    ) -> dict[str, dict[str, int]]:
        """Return the values that its steps read, and the route of each prompt."""
        numbers = {name: self.number(name) for name in prompts}
        inner = super().prompt_values(prompts, token_ids)
        return {**inner, "route": {"": self.number(None), **numbers}}

    def build(self, op: OpBuilder, state: Values) -> Values:
        """Add a branch per route to the graph; a run takes the branch of ``state.route``."""
        if state.route is None:
            raise RuntimeError("no route is fed")
        if not any(self.routes.values()):
            return state
        branches = {
            name: branch(op.builder, name, partial(self._branch, op, state, name))
            for name in self.routes
        }
        shapes = {name: graph.outputs[0].shape or () for name, graph in branches.items()}
        if len({(len(shape), str(shape[-1:])) for shape in shapes.values()}) > 1:
            sizes = ", ".join(f"{name} in {shape}" for name, shape in shapes.items())
            raise InputError(f"route: routes end in different sizes: {sizes}; make them equal")
        x, *values = choose(op.builder, state.route, list(branches.values()))
        return state.becomes(x, **dict(zip(self._told, values, strict=True)))

    @property
    def _told(self) -> list[str]:
        """The parts of the state, beside embeddings, for later steps; after a pooling, nothing."""
        return [] if self.pools else sorted(self.changes)

    def _branch(self, op: OpBuilder, state: Values, name: str) -> list[ir.Value]:
        """Return the results of a route: the embeddings, then all that any route changes."""
        number = list(self.routes).index(name)
        state = state.becomes(within(op.builder, state.x, number))
        for index, step in enumerate(self.routes[name]):
            op.builder.push_module(str(index), type(step).__name__)
            try:
                state = step.build(op, state)
            except InputError as error:
                raise InputError(f"routes.{name}[{index}]: {error}") from error
            finally:
                op.builder.pop_module()
        return [state.x, *(getattr(state, field) for field in self._told)]

    def numpy(self, state: Arrays) -> Arrays:
        """Run the steps of ``state.route`` in NumPy."""
        if state.route is None:
            raise RuntimeError("no route is fed")
        for step in list(self.routes.values())[state.route.item()]:
            state = step.numpy(state)
        return state

    def __str__(self) -> str:
        """Return the step as in the manifest, such as ``route(a: normalize(), b: none)``."""
        parts = [f"{name}: {_readable(steps)}" for name, steps in self.routes.items()]
        others = [f"prompt {prompt}: {route}" for prompt, route in self.prompts.items()]
        return f"route({'; '.join([*parts, *others, f'default: {self.default}'])})"


def _readable(steps: Iterable[Step]) -> str:
    return " -> ".join(map(str, steps)) or "none"
