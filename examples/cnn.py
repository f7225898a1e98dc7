"""A convolutional network for images: twice ``max_2x2(relu(W * x + b))``, the mean, a linear layer.

``W * x`` is the convolution, ``max_2x2`` the greatest of four neighbours.
"""

from __future__ import annotations

from pathlib import Path

import typer
from onnxscript import OpBuilder, ir, nn

from polybake.layers import Conv2d, Linear, write_network


class Cnn(nn.Module):
    """Two convolutions, each of which halves the image, and a linear layer over their mean."""

    def __init__(self, colours: int, channels: int, classes: int) -> None:
        super().__init__()
        self.conv1 = Conv2d(colours, channels, 3, padding=1)
        self.conv2 = Conv2d(channels, 2 * channels, 3, padding=1)
        self.head = Linear(2 * channels, classes)

    def forward(self, op: OpBuilder, x: ir.Value) -> ir.Value:
        """Map float32 ``[batch, colours, height, width]`` to ``[batch, classes]``."""
        for conv in (self.conv1, self.conv2):
            x = op.MaxPool(op.Relu(conv(op, x)), kernel_shape=[2, 2], strides=[2, 2])
        return self.head(op, op.ReduceMean(x, axes=[2, 3], keepdims=0))


def main(out: Path, weights: Path | None = None) -> None:
    """Write the network to OUT, with random weights where no safetensors file is given."""
    image = ir.val("image", ir.DataType.FLOAT, ["batch", 3, "height", "width"])
    print(write_network(Cnn(3, 8, 10), [image], out, weights))


if __name__ == "__main__":
    typer.run(main)
