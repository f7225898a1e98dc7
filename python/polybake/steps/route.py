"""Take other steps for other prompts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

from pydantic import Field, field_validator, model_validator

from polybake.errors import InputError
from polybake.steps.quantize import Quantize
from polybake.steps.step import Floats, Integers, Step
from polybake.steps.tokens import Tokens

if TYPE_CHECKING:
    from onnxscript import OpBuilder, ir


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
        within = [step for steps in routes.values() for step in steps]
        if any(isinstance(step, Route) for step in within):
            raise ValueError("a route holds a route step; list all routes in one")
        if any(isinstance(step, Quantize) for step in within):
            raise ValueError("a route holds a quantize step; put one after the route step")
        return routes

    @model_validator(mode="after")
    def _routes_are_known(self) -> Self:
        if "" in self.prompts or "" in self.routes:
            raise ValueError("a route or a prompt has the empty name; name it")
        for name in (self.default, *self.prompts.values()):
            if name not in self.routes:
                raise ValueError(f"unknown route {name!r}; choose one of: {', '.join(self.routes)}")
        return self

    def number(self, prompt: str | None) -> int:
        """The place among ``routes`` of the one that a prompt takes."""
        own = self.prompts.get(prompt or "", prompt)
        return list(self.routes).index(own if own in self.routes else self.default)

    def build(self, op: OpBuilder, x: ir.Value, tokens: Tokens[ir.Value]) -> ir.Value:
        """Add one branch a route to the graph; a run takes the one of ``tokens.route``.

        Raises:
            InputError: a step does not fit, or the routes end in different sizes.
        """
        from polybake.graph.branches import branch, choose

        if tokens.route is None:
            raise RuntimeError("no route is fed")
        branches = {
            name: branch(op.builder, name, partial(self._chain, op, x, tokens, name))
            for name in self.routes
        }
        shapes = {name: graph.outputs[0].shape or () for name, graph in branches.items()}
        if len({(len(shape), str(shape[-1:])) for shape in shapes.values()}) > 1:
            found = ", ".join(f"{name} in {shape}" for name, shape in shapes.items())
            raise InputError(f"route: routes end in different sizes: {found}; make them one")
        return choose(op.builder, tokens.route, list(branches.values()))

    def _chain(self, op: OpBuilder, x: ir.Value, tokens: Tokens[ir.Value], name: str) -> ir.Value:
        from polybake.graph.branches import within

        x, tokens = within(op.builder, x, list(self.routes).index(name)), replace(tokens)
        for index, step in enumerate(self.routes[name]):
            op.builder.push_module(str(index), type(step).__name__)
            try:
                x = step.build(op, x, tokens)
            except InputError as error:
                raise InputError(f"routes.{name}[{index}]: {error}") from error
            finally:
                op.builder.pop_module()
        return x

    def numpy(self, x: Floats, tokens: Tokens[Integers]) -> Floats:
        """Run the steps of ``tokens.route`` in NumPy."""
        if tokens.route is None:
            raise RuntimeError("no route is fed")
        taken = list(self.routes.values())[tokens.route.item()]
        y, tokens = cast("Any", x), replace(tokens)
        for step in taken:
            y = step.numpy(y, tokens)
        return y

    def __str__(self) -> str:
        """The step as the manifest shows it, such as ``route(a: normalize(), b: none)``."""
        parts = [f"{name}: {_readable(steps)}" for name, steps in self.routes.items()]
        others = [f"prompt {prompt}: {route}" for prompt, route in self.prompts.items()]
        return f"route({'; '.join([*parts, *others, f'default: {self.default}'])})"


def _readable(steps: Iterable[Step]) -> str:
    return " -> ".join(map(str, steps)) or "none"
