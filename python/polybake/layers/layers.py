"""The layers that encoders share, with the parameter names that PyTorch gives them."""

from __future__ import annotations

from onnxscript import OpBuilder, ir, nn


class Embedding(nn.Module):
    """A table of rows looked up by id."""

    def __init__(self, rows: int, size: int) -> None:
        super().__init__()
        self.size = size
        self.weight = nn.Parameter([rows, size])

    def forward(self, op: OpBuilder, ids: ir.Value) -> ir.Value:
        """Look up int64 ``[...]`` and give float32 ``[..., size]``."""
        return op.Gather(self.weight, ids)


class PositionEmbedding(Embedding):
    """A table with a row for each place of a text, from the first token on."""

    def forward(self, op: OpBuilder, ids: ir.Value) -> ir.Value:
        """Map int64 ``[batch, sequence]`` to float32 ``[sequence, size]``.

        A Slice of the table stays on a GPU, where a count of places would be made on the CPU.
        """
        rows: ir.Value = op.Slice(self.weight, [0], op.Shape(ids, start=1, end=2), [0])
        rows.shape = ir.Shape(["sequence", self.size])  # which inference cannot know
        return rows


class Linear(nn.Module):
    """``x @ weight + bias``, or ``x @ weight`` without a bias.

    The weight is ``[in, out]``, the transpose of what a checkpoint stores, so that the graph
    holds no Transpose; `polybake.layers.weights` turns it.
    """

    def __init__(self, inputs: int, outputs: int, *, bias: bool = True) -> None:
        super().__init__()
        self.weight = nn.Parameter([inputs, outputs])
        self.bias = nn.Parameter([outputs]) if bias else None

    def forward(self, op: OpBuilder, x: ir.Value) -> ir.Value:
        """Map float32 ``[..., in]`` to ``[..., out]``."""
        product = op.MatMul(x, self.weight)
        return product if self.bias is None else op.Add(product, self.bias)


class LayerNorm(nn.Module):
    """Normalise the last axis, then scale it, and shift it where there is a bias."""

    def __init__(self, size: int, epsilon: float, *, bias: bool = True) -> None:
        super().__init__()
        self.weight = nn.Parameter([size])
        # Zeros, as ONNX Runtime (SkipLayerNormFusion, 1.20 to 1.31) crashes where none are given.
        self.bias = nn.Parameter([size]) if bias else [0.0] * size
        self.epsilon = epsilon

    def forward(self, op: OpBuilder, x: ir.Value) -> ir.Value:
        """Keep the shape, float32 ``[..., size]``."""
        return op.LayerNormalization(x, self.weight, self.bias, axis=-1, epsilon=self.epsilon)
