"""Dropout does nothing to an embedding."""

from __future__ import annotations

import numpy as np
import pytest
from pydantic import ValidationError

from polybake.steps import Dropout

X = np.random.default_rng(13).normal(size=(3, 7)).astype(np.float32)
MASK = np.ones((3, 2), np.int64)


def test_leaves_everything_as_it_is() -> None:
    """Neither form computes anything."""
    from onnxscript import GraphBuilder, ir

    graph = ir.Graph([], [], nodes=[], opset_imports={"": 18}, name="step")
    builder = GraphBuilder(graph)
    fed = builder.input("x", ir.DataType.FLOAT, ["batch", 7])
    assert Dropout().onnx(builder.op, fed) is fed
    assert len(graph) == 0
    np.testing.assert_array_equal(Dropout().formula(X), X)


def test_takes_no_rate() -> None:
    """A rate would say that something is dropped."""
    with pytest.raises(ValidationError):
        Dropout(rate=0.2)


def test_reads_as_in_the_manifest() -> None:
    """The step says that it does nothing."""
    assert str(Dropout()) == "dropout(no-op)"
