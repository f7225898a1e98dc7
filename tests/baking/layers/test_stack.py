"""Layers, one after another."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnxscript import nn

from models.parts.tiny_encoders import run_graph
from polybake.baking.layers.stack import Stack

X = np.array([[1.0, -2.0]], np.float32)


class Times(nn.Module):
    def forward(self, op: Any, x: Any, factor: Any) -> Any:
        return op.Add(op.Mul(x, factor), 1.0)


def test_each_continues_the_one_before() -> None:
    """With what all of them are given; every state on the way is kept."""
    stack = Stack([Times(), Times(), Times()])
    found = run_graph(lambda op, x: stack(op, x, 2.0), x=X)
    assert found.tolist() == [[15.0, -9.0]]
    assert len(stack.hidden_states) == 4
