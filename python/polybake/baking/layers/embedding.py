"""Tables of rows, with the parameter names that PyTorch gives them."""

import math

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


class ScaledEmbedding(Embedding):
    """A table whose rows are multiplied by the root of their size.

    Source: transformers ``GemmaTextScaledWordEmbedding``.
    """

    def forward(self, op: OpBuilder, ids: ir.Value) -> ir.Value:
        """Look up int64 ``[...]`` and give float32 ``[..., size]``."""
        return op.Mul(super().forward(op, ids), math.sqrt(self.size))


class PositionEmbedding(Embedding):
    """A table with a row for each place of a text, from the first token on."""

    def forward(self, op: OpBuilder, ids: ir.Value) -> ir.Value:
        """Map int64 ``[batch, sequence]`` to float32 ``[sequence, size]``.

        A Slice of the table stays on a GPU, where a count of places would be made on the CPU.
        """
        rows: ir.Value = op.Slice(self.weight, [0], op.Shape(ids, start=1, end=2), [0])
        rows.shape = ir.Shape(["sequence", self.size])  # which inference cannot know
        return rows
