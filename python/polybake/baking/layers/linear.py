"""A linear layer, with the parameter names that PyTorch gives it."""

from typing import ClassVar

from onnxscript import OpBuilder, ir, nn


class Linear(nn.Module):
    """``x @ weight + bias``, or ``x @ weight`` without a bias.

    The weight is ``[in, out]``, the transpose of a checkpoint's weight, so that the graph needs no
    Transpose; `polybake.baking.layers.weights` transposes it.
    """

    #: Whether the weight lies in checkpoints as ``[out, in]``.
    transposed: ClassVar[bool] = True

    def __init__(
        self, inputs: int, outputs: int, *, bias: bool = True, name: str | None = None
    ) -> None:
        super().__init__(name)
        self.weight = nn.Parameter([inputs, outputs])
        self.bias = nn.Parameter([outputs]) if bias else None

    def forward(self, op: OpBuilder, x: ir.Value) -> ir.Value:
        """Map float32 ``[..., in]`` to ``[..., out]``."""
        product = op.MatMul(x, self.weight)
        return product if self.bias is None else op.Add(product, self.bias)


class Conv1D(Linear):
    """A linear layer whose weight lies in checkpoints as ``[in, out]``.

    Source: transformers ``Conv1D``.
    """

    transposed = False
