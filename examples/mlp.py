"""A multilayer perceptron: each layer is ``x -> relu(x W + b)``, and the last one ``x W + b``."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import typer
from onnxscript import OpBuilder, ir, nn

from polybake.layers import Linear, write_network


class Mlp(nn.Module):
    """Linear layers from each of ``sizes`` to the next, with a ReLU between two."""

    def __init__(self, *sizes: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList([Linear(*pair) for pair in pairwise(sizes)])

    def forward(self, op: OpBuilder, x: ir.Value) -> ir.Value:
        """Map float32 ``[batch, first size]`` to ``[batch, last size]``."""
        *hidden, last = self.layers
        for layer in hidden:
            x = op.Relu(layer(op, x))
        return last(op, x)


def main(out: Path, weights: Path | None = None) -> None:
    """Write the network to OUT, with random weights where no safetensors file is given."""
    x = ir.val("x", ir.DataType.FLOAT, ["batch", 6])
    print(write_network(Mlp(6, 16, 8, 3), [x], out, weights))


if __name__ == "__main__":
    typer.run(main)
