"""Run an encoder, or a part of one, alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime as ort
from numpy.typing import NDArray

from polybake.baking.graph.check import check_graph
from polybake.baking.sources import open_source
from polybake.runtime.session import open_session

Floats = NDArray[np.floating[Any]]


def token_embeddings(folder: Path, scratch: Path, **fed: NDArray[np.int64]) -> Floats:
    """What the encoder of ``folder`` gives, float32 ``[batch, sequence, hidden]``."""
    reference = open_source(folder).encoder.reference(scratch)
    found: Floats = open_session(reference.path).run([reference.output], fed)[0]
    return found


def run_graph(build: Callable[..., Any], **fed: NDArray[Any]) -> Any:
    """What ``build(op, **values)`` gives for these arrays, of any shape."""
    from onnxscript import GraphBuilder, ir

    graph = ir.Graph([], [], nodes=[], opset_imports={"": 18}, name="part")
    builder = GraphBuilder(graph)
    values = {
        name: builder.input(name, ir.DataType.from_numpy(array.dtype), [None] * array.ndim)
        for name, array in fed.items()
    }
    builder.add_output(build(builder.op, **values), "result")
    model = ir.Model(graph, ir_version=8)
    check_graph(model)
    proto = ir.to_proto(model).SerializeToString()
    return ort.InferenceSession(proto, providers=["CPUExecutionProvider"]).run(None, fed)[0]


def random_weights(shapes: dict[str, tuple[int, ...]], seed: int = 1) -> dict[str, Floats]:
    """Weights of std 0.2 under a checkpoint's names."""
    random = np.random.default_rng(seed)
    return {
        name: random.normal(0.0, 0.2, shape).astype(np.float32) for name, shape in shapes.items()
    }
