"""The augmentation of a row before the encoder: cut at its prompt's limit, and filled up."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from onnxscript import OpBuilder, ir


class Tokens(NamedTuple):
    """Rows of tokens, padded on the right: int64 ``[batch, sequence]`` each.

    Attributes:
        ids: Token ids.
        attended: 1 at tokens that the encoder attends to.
        counted: 1 at tokens whose embeddings count.
    """

    ids: NDArray[np.int64]
    attended: NDArray[np.int64]
    counted: NDArray[np.int64]


class TokenValues(NamedTuple):
    """The same as values of a graph."""

    ids: ir.Value
    attended: ir.Value
    counted: ir.Value


@dataclass(frozen=True)
class QueryAugmentation:
    """Cuts and fills rows, each in the way of its route.

    Attributes:
        limits: Tokens kept of a text by route, special tokens included.
        widths: Tokens of a row at least, by route; 0 fills nothing up.
        fill: The id that fills a row up.
        attend: Whether the encoder attends to it.
        behind: How many special tokens end a row, which stay when it is cut.

    Source: sentence-transformers ``Transformer.preprocess``, ``query_expansion``.
    """

    limits: tuple[int, ...]
    widths: tuple[int, ...]
    fill: int
    attend: bool
    behind: int

    def build(self, op: OpBuilder, ids: ir.Value, mask: ir.Value, route: ir.Value) -> TokenValues:
        """Add the operators to the graph; ``route`` is int64 ``[1]``."""
        limit, width = (op.Gather([*sizes], route) for sizes in (self.limits, self.widths))
        size = op.Shape(ids, start=1, end=2)
        length = op.ReduceSum(mask, axes=[1], keepdims=1)
        columns = op.Max(op.Min(size, limit), width)
        index = op.Range(0, op.Squeeze(columns), 1)
        # A cut row ends with the special tokens that end every row.
        ends = op.Cast(op.GreaterOrEqual(index, op.Sub(limit, self.behind)), to=ir.DataType.INT64)
        source = op.Add(index, op.Mul(ends, op.Max(op.Sub(length, limit), 0)))
        tokens = op.GatherElements(ids, op.Min(source, op.Sub(size, 1)), axis=1)
        present = op.Less(index, op.Min(length, limit))
        filled = op.And(op.Not(present), op.Less(index, width))
        counted = op.Cast(op.Or(present, filled), to=ir.DataType.INT64)
        attended = counted if self.attend else op.Cast(present, to=ir.DataType.INT64)
        values = TokenValues(op.Where(filled, self.fill, tokens), attended, counted)
        for value in values:
            value.shape = ir.Shape(["batch", "tokens"])
            value.dtype = ir.DataType.INT64
        return values

    def numpy(
        self, ids: NDArray[np.int64], mask: NDArray[np.int64], route: NDArray[np.int64]
    ) -> Tokens:
        """Cut and fill row by row."""
        limit, width = self.limits[route.item()], self.widths[route.item()]
        columns = max(min(ids.shape[1], limit), width)
        rows = []
        for row, present in zip(ids, mask.astype(bool), strict=True):
            text = row[present]
            if len(text) > limit:
                text = np.concatenate(
                    [text[: limit - self.behind], text[len(text) - self.behind :]]
                )
            fill = max(width - len(text), 0)
            padding = columns - len(text) - fill
            rows.append(
                (
                    [*text, *[self.fill] * fill, *[0] * padding],
                    [*[1] * len(text), *[int(self.attend)] * fill, *[0] * padding],
                    [*[1] * (len(text) + fill), *[0] * padding],
                )
            )
        return Tokens(*(np.array(part, np.int64) for part in zip(*rows, strict=True)))
