"""Convolutions over time and over images, and the normalisation that stands between them."""

import numpy as np
from onnxscript import OpBuilder, ir, nn


class _Conv(nn.Module):
    """A convolution over ``axes`` axes, its weight ``[out, in, *kernel]`` as PyTorch stores it."""

    axes: int

    def __init__(
        self,
        inputs: int,
        outputs: int,
        kernel: int,
        *,
        padding: int = 0,
        stride: int = 1,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.weight = nn.Parameter([outputs, inputs, *[kernel] * self.axes])
        self.bias = nn.Parameter([outputs]) if bias else None
        self.kernel, self.padding, self.stride = kernel, padding, stride

    def forward(self, op: OpBuilder, x: ir.Value) -> ir.Value:
        """Map float32 ``[batch, in, *places]`` to ``[batch, out, *places]``.

        An axis of n places becomes ``(n + 2 * padding - kernel) // stride + 1`` long.
        """
        return op.Conv(
            x,
            self.weight,
            self.bias,
            kernel_shape=[self.kernel] * self.axes,
            pads=[self.padding] * self.axes * 2,
            strides=[self.stride] * self.axes,
        )


class Conv1d(_Conv):
    """A convolution over time: float32 ``[batch, in, sequence]``."""

    axes = 1


class Conv2d(_Conv):
    """A convolution over an image: float32 ``[batch, in, height, width]``."""

    axes = 2


class BatchNorm(nn.Module):
    """Normalise each channel by the mean and variance that training found, scale and shift it.

    Without trained weights it changes nothing, except for ``epsilon``, as in PyTorch.
    """

    def __init__(self, channels: int, epsilon: float = 1e-5) -> None:
        super().__init__()
        ones, zeros = np.ones(channels, np.float32), np.zeros(channels, np.float32)
        self.weight = nn.Parameter([channels], data=ir.tensor(ones))
        self.bias = nn.Parameter([channels], data=ir.tensor(zeros))
        self.running_mean = nn.Parameter([channels], data=ir.tensor(zeros))
        self.running_var = nn.Parameter([channels], data=ir.tensor(ones))
        self.epsilon = epsilon

    def forward(self, op: OpBuilder, x: ir.Value) -> ir.Value:
        """Keep the shape, float32 ``[batch, channels, *places]``."""
        return op.BatchNormalization(
            x, self.weight, self.bias, self.running_mean, self.running_var, epsilon=self.epsilon
        )
