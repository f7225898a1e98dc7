"""Runs one step alone, in a graph of a given opset."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import onnxruntime as ort
import pytest
from numpy.typing import NDArray
from onnxscript import GraphBuilder, ir

from models.parts.tiny_state import state
from polybake.baking.graph.check import check_graph
from polybake.steps import Arrays, State, Step, Values
from support.samples.weekly import weekly_but

Floats = NDArray[np.floating[Any]]
RunStep = Callable[..., Floats]

#: What bakes keep of their sources, from the oldest that is taken to a recent one.
OPSETS = weekly_but(4, [11, 13, 18, 25, 17, 20, 22])


@pytest.fixture(scope="session", params=OPSETS)
def opset(request: pytest.FixtureRequest) -> int:
    found: int = request.param
    return found


def built(steps: Sequence[Step], arrays: dict[str, Floats], opset: int) -> ort.InferenceSession:
    """A checked graph of ``steps``, for any batch and any length."""
    graph = ir.Graph([], [], nodes=[], opset_imports={"": opset}, name="step")
    builder = GraphBuilder(graph)
    axes, x = ["batch", "sequence"], arrays["x"]
    value = builder.input("x", ir.DataType.FLOAT, [*axes[: x.ndim - 1], x.shape[-1]])
    others = {
        name: builder.input(name, ir.DataType.INT64, axes if array.ndim == 2 else [1])
        for name, array in arrays.items()
        if name != "x"
    }
    state: Values = State(value, **others)
    for step in steps:
        state = step.build(builder.op, state)
    # A step may add no operator, and an input is no output of its own.
    builder.add_output(builder.op.Identity(state.x), "result")
    model = ir.Model(graph, ir_version=8)
    check_graph(model)
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1  # waiting threads of many sessions take time
    data = ir.to_proto(model).SerializeToString()
    return ort.InferenceSession(data, options, providers=["CPUExecutionProvider"])


@pytest.fixture(scope="session")
def run_steps() -> RunStep:
    """Run ``steps``, one after another, in a graph that is built once for all arrays."""
    sessions: dict[tuple[object, ...], tuple[Sequence[Step], ort.InferenceSession]] = {}

    def run(steps: Sequence[Step], given: Arrays, opset: int = 18) -> Floats:
        arrays = {
            name: array for name, array in vars(given).items() if isinstance(array, np.ndarray)
        }
        x = arrays["x"] = arrays["x"].astype(np.float32)
        key = (*map(id, steps), opset, x.ndim, x.shape[-1], *arrays)
        if key not in sessions:
            # The steps are kept beside it, so that no other ones get their ids.
            sessions[key] = ([*steps], built(steps, arrays, opset))
        found: Floats = sessions[key][1].run(None, arrays)[0]
        return found

    return run


@pytest.fixture(scope="session")
def run_step(run_steps: RunStep) -> RunStep:
    """Run one step on ``x``, with the tokens of a mask, a prompt and a route."""

    def run(
        step: Step,
        x: Floats,
        mask: NDArray[np.int64],
        opset: int = 18,
        prompt_length: int | None = None,
        route: int | None = None,
    ) -> Floats:
        return run_steps([step], state(x, mask, prompt_length, route), opset)

    return run
