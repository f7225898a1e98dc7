"""Layers that run one after another."""

from collections.abc import Sequence
from typing import Any

from onnxscript import OpBuilder, ir, nn


class Stack(nn.Module):
    """Layers that each keep the shape of their input.

    Attributes:
        hidden_states: The input of the first layer, then the output of each layer, once
            ``forward`` has run.
    """

    def __init__(self, layers: Sequence[nn.Module]) -> None:
        super().__init__()
        self.layer = nn.ModuleList(list(layers))
        self.hidden_states: list[ir.Value] = []

    def forward(self, op: OpBuilder, x: ir.Value, *given: Any) -> ir.Value:
        """Keep the shape, float32 ``[batch, sequence, hidden]``; each layer gets all ``given``."""
        self.hidden_states[:] = [x]
        for layer in self.layer:
            x = layer(op, x, *given)
            self.hidden_states.append(x)
        return x
