"""A residual network: each block is ``relu(F(x) + S(x))``.

``F`` is two normalised convolutions with a ReLU between them; ``S`` is ``x`` itself, or one
convolution of a single pixel where the block changes the shape.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import typer
from onnxscript import OpBuilder, ir, nn

from polybake.layers import BatchNorm, Conv2d, Linear, write_network


class Block(nn.Module):
    """``relu(bn2(conv2(relu(bn1(conv1(x))))) + shortcut(x))``, half as high and wide if widened."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        same = inputs == outputs
        stride = 1 if same else 2
        self.conv1 = Conv2d(inputs, outputs, 3, padding=1, stride=stride, bias=False)
        self.bn1 = BatchNorm(outputs)
        self.conv2 = Conv2d(outputs, outputs, 3, padding=1, bias=False)
        self.bn2 = BatchNorm(outputs)
        self.shortcut = None if same else Conv2d(inputs, outputs, 1, stride=stride, bias=False)

    def forward(self, op: OpBuilder, x: ir.Value) -> ir.Value:
        """Map float32 ``[batch, in, height, width]`` to ``[batch, out, height, width]``."""
        y = op.Relu(self.bn1(op, self.conv1(op, x)))
        y = self.bn2(op, self.conv2(op, y))
        return op.Relu(op.Add(y, x if self.shortcut is None else self.shortcut(op, x)))


class ResidualCnn(nn.Module):
    """A convolution, a block from each number of channels to the next, and a linear layer."""

    def __init__(self, colours: int, channels: list[int], classes: int) -> None:
        super().__init__()
        self.stem = Conv2d(colours, channels[0], 3, padding=1)
        self.blocks = nn.ModuleList([Block(*pair) for pair in pairwise(channels)])
        self.head = Linear(channels[-1], classes)

    def forward(self, op: OpBuilder, x: ir.Value) -> ir.Value:
        """Map float32 ``[batch, colours, height, width]`` to ``[batch, classes]``."""
        x = op.Relu(self.stem(op, x))
        for block in self.blocks:
            x = block(op, x)
        return self.head(op, op.ReduceMean(x, axes=[2, 3], keepdims=0))


def main(out: Path, weights: Path | None = None) -> None:
    """Write the network to OUT, with random weights where no safetensors file is given."""
    image = ir.val("image", ir.DataType.FLOAT, ["batch", 3, "height", "width"])
    print(write_network(ResidualCnn(3, [8, 8, 12], 10), [image], out, weights))


if __name__ == "__main__":
    typer.run(main)
