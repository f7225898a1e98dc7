"""Steps within a step, each under a name of its own in the graph."""

from collections.abc import Iterable

from onnxscript import OpBuilder

from polybake.baking.steps.state import Values
from polybake.baking.steps.step import Step


def build_each(op: OpBuilder, scope: str, steps: Iterable[Step], state: Values) -> Values:
    """Add steps to the graph, each under its own name.

    Args:
        op: The builder.
        scope: The first part of the names.
        steps: The steps, in order.
        state: What the first of them takes.
    """
    for index, step in enumerate(steps):
        op.builder.push_module(f"{scope}.{index}", type(step).__name__)
        try:
            state = step.build(op, state)
        finally:
            op.builder.pop_module()
    return state
