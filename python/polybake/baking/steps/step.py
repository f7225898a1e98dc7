"""The base class of all post-processing steps."""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from onnxscript import OpBuilder, ir
from pydantic import BaseModel, ConfigDict

from polybake.baking.steps.state import Arrays, Floats, Values


class Step(BaseModel, abc.ABC):
    """One post-processing function with its parameters, as ONNX operators and in NumPy.

    Both forms map a state to the next one and change nothing. The NumPy form is the independent
    formula that a bake is proven with.

    Attributes:
        name: What polybake.toml and the manifest call it.
        final: Whether it must stand last.
        dtype: Of the embeddings behind it.
        packs: Whether an element behind it holds eight dimensions.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    name: ClassVar[str]
    final: ClassVar[bool] = False

    @abc.abstractmethod
    def build(self, op: OpBuilder, state: Values) -> Values:
        """Add the step's operators to the graph."""

    @abc.abstractmethod
    def numpy(self, state: Arrays) -> Arrays:
        """Apply the step to NumPy arrays; return the next state."""

    @property
    def inner(self) -> Mapping[str, tuple[Step, ...]]:
        """The steps of each of its routes, by the route's name; most steps have none."""
        return {}

    @property
    def pools(self) -> bool:
        """Whether it makes one vector of a text's token embeddings."""
        return any(step.pools for steps in self.inner.values() for step in steps)

    @property
    def changes(self) -> frozenset[str]:
        """The fields of the state, besides ``x``, that it may give anew."""
        return frozenset().union(*(step.changes for steps in self.inner.values() for step in steps))

    @property
    def dtype(self) -> Literal["float32", "int8", "uint8"]:
        """The dtype of the embeddings behind it."""
        return "float32"

    @property
    def packs(self) -> bool:
        """Whether an element behind it holds eight dimensions."""
        return False

    def prompt_values(
        self, prompts: Mapping[str, str], token_ids: Callable[[str], list[int]]
    ) -> dict[str, dict[str, int]]:
        """The inputs that it reads, of int64 ``[1]``, and what each prompt gives them.

        Returns:
            Values by the input's name and the prompt's; ``""`` is a call without a prompt.
        """
        values: dict[str, dict[str, int]] = {}
        for steps in self.inner.values():
            for step in steps:
                values |= step.prompt_values(prompts, token_ids)
        return values

    def __str__(self) -> str:
        """The step as the manifest shows it, such as ``pool(mode=mean)``."""
        parts = (f"{key}={_readable(value)}" for key, value in self if value is not None)
        return f"{self.name}({', '.join(parts)})"


class Pointwise(Step):
    """A step that maps each embedding by itself, whatever tokens it comes from."""

    @abc.abstractmethod
    def onnx(self, op: OpBuilder, x: ir.Value) -> ir.Value:
        """Add the step's operators to the graph and return its result."""

    @abc.abstractmethod
    def formula(self, x: Floats) -> NDArray[np.number[Any]]:
        """Compute the same in NumPy."""

    def build(self, op: OpBuilder, state: Values) -> Values:
        """Map the embeddings of the state."""
        return state.becomes(self.onnx(op, state.x))

    def numpy(self, state: Arrays) -> Arrays:
        """Map the embeddings of the state."""
        return state.becomes(self.formula(state.x))


def _readable(value: object) -> str:
    if isinstance(value, np.ndarray):
        return "x".join(str(size) for size in value.shape)
    return str(value)


def build_each(op: OpBuilder, scope: str, steps: Iterable[Step], state: Values) -> Values:
    """Add steps to the graph, each under its own name."""
    for index, step in enumerate(steps):
        op.builder.push_module(f"{scope}.{index}", type(step).__name__)
        try:
            state = step.build(op, state)
        finally:
            op.builder.pop_module()
    return state
