"""Runs one step alone, in a graph of a given opset."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import onnxruntime as ort
import pytest
from numpy.typing import NDArray

from polybake.graphcheck import check_graph
from polybake.steps import Step, Tokens
from tiny_tokens import tokens

Floats = NDArray[np.floating[Any]]
RunStep = Callable[..., Floats]

#: What bakes keep of their sources, from the oldest that is taken to a recent one.
OPSETS = (11, 13, 17, 18, 20, 22, 25)


@pytest.fixture(params=OPSETS)
def opset(request: pytest.FixtureRequest) -> int:
    found: int = request.param
    return found


@pytest.fixture
def run_step() -> RunStep:
    """Build, check and run ``step`` on ``x``, with the tokens of a mask, a prompt and a route."""

    def run(
        step: Step,
        x: Floats,
        mask: NDArray[np.int64],
        opset: int = 18,
        prompt_length: int | None = None,
        route: int | None = None,
    ) -> Floats:
        from onnxscript import GraphBuilder, ir

        graph = ir.Graph([], [], nodes=[], opset_imports={"": opset}, name="step")
        builder = GraphBuilder(graph)
        axes = ["batch", "sequence"]
        fed = builder.input("x", ir.DataType.FLOAT, [*axes[: x.ndim - 1], x.shape[-1]])
        given = {
            name: value
            for name, value in vars(tokens(mask, prompt_length, route)).items()
            if value is not None
        }
        read = {
            name: builder.input(name, ir.DataType.INT64, axes if value.ndim == 2 else [1])
            for name, value in given.items()
        }
        result = step.build(builder.op, fed, Tokens(**read))
        builder.add_output(result, "result")
        model = ir.Model(graph, ir_version=8)
        check_graph(model)
        session = ort.InferenceSession(
            ir.to_proto(model).SerializeToString(), providers=["CPUExecutionProvider"]
        )
        found: Floats = session.run(None, {"x": x.astype(np.float32), **given})[0]
        return found

    return run
