"""Embedding tables, with the parameter names that PyTorch gives them."""

from onnxscript import OpBuilder, ir, nn


class Embedding(nn.Module):
    """A table of rows looked up by id."""

    def __init__(self, rows: int, size: int, name: str | None = None) -> None:
        super().__init__(name)
        self.size = size
        self.weight = nn.Parameter([rows, size])

    def forward(self, op: OpBuilder, ids: ir.Value) -> ir.Value:
        """Look up int64 ``[...]`` and give float32 ``[..., size]``."""
        return op.Gather(self.weight, ids)


class PositionEmbedding(Embedding):
    """A table with a row for each position of a text, behind ``offset`` rows that none has."""

    def __init__(self, rows: int, size: int, name: str | None = None, offset: int = 0) -> None:
        super().__init__(rows + offset, size, name)
        self.offset = offset

    def forward(self, op: OpBuilder, ids: ir.Value) -> ir.Value:
        """Map int64 ``[batch, sequence]`` to float32 ``[sequence, size]``.

        A Slice of the table stays on a GPU, where a range of positions would be made on the CPU.
        """
        end = op.Shape(ids, start=1, end=2)
        end = op.Add(end, [self.offset]) if self.offset else end
        rows: ir.Value = op.Slice(self.weight, [self.offset], end, [0])
        rows.shape = ir.Shape(["sequence", self.size])  # which inference cannot know
        return rows
