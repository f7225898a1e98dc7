"""Keys and values of prefixes, computed once.

In a causal model no token attends to those behind it. So the keys and values of what every text of
a batch begins with, such as an instruction, are the same whatever follows: they are constants of
the graph, which computes the tokens behind them alone. A batch whose rows do not all begin with one
known prefix is computed whole.
"""

from dataclasses import dataclass
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray
from onnxscript import GraphBuilder, OpBuilder, ir

from polybake.baking.graph.all_rows import PREFIX

#: An id that no row has.
_NONE = -1

#: Where a slice ends that goes on to the end.
_END = np.iinfo(np.int64).max


@dataclass(frozen=True)
class Past:
    """The prefix that all rows of a batch begin with.

    Attributes:
        length: int64 ``[1]``, its tokens; 0 where the rows have no known prefix in common.
        begin, end: int64 ``[1]``, where its tokens stand among those of all prefixes.
        batch: int64 ``[4]``, the number of rows and three times 1.
        layers: Keys and values of all prefixes by layer, float32 ``[1, heads, tokens, head_size]``.
    """

    length: ir.Value
    begin: ir.Value
    end: ir.Value
    batch: ir.Value
    layers: tuple[tuple[ir.Value, ir.Value], ...]

    def rest(self, op: OpBuilder, x: ir.Value, axis: int) -> ir.Value:
        """Drop the prefix's tokens along an axis of ``x``."""
        rest: ir.Value = op.Slice(x, self.length, [_END], [axis])
        if x.shape is not None:
            rest.shape = ir.Shape([*x.shape[:axis], "rest", *x.shape[axis + 1 :]])
        return rest

    def before(
        self, op: OpBuilder, layer: int, key: ir.Value, value: ir.Value
    ) -> tuple[ir.Value, ir.Value]:
        """Put the prefix's keys and values of a layer before those of the tokens behind it.

        They are float32 ``[batch, heads, rest, head_size]``, and then ``[…, sequence, head_size]``.
        """

        def joined(cached: ir.Value, x: ir.Value) -> ir.Value:
            first = op.Slice(cached, self.begin, self.end, [2])
            return op.Concat(op.Expand(first, self.batch), x, axis=2)

        keys, values = self.layers[layer]
        return joined(keys, key), joined(values, value)


@dataclass(frozen=True)
class PrefixCache:
    """Known prefixes, with their keys and values in every layer.

    Attributes:
        prefixes: The token ids of each, at least one.
        layers: Keys and values by layer, float32 ``[1, heads, tokens, head_size]``, of the prefixes
            one after another.
    """

    prefixes: tuple[tuple[int, ...], ...]
    layers: tuple[tuple[NDArray[np.float32], NDArray[np.float32]], ...]

    @property
    def nbytes(self) -> int:
        """Bytes of all keys and values."""
        return sum(keys.nbytes + values.nbytes for keys, values in self.layers)

    def past(self, builder: GraphBuilder, input_ids: ir.Value, attention_mask: ir.Value) -> Past:
        """Find the longest prefix that all rows of int64 ``[batch, sequence]`` begin with."""
        op = builder.op
        lengths = [len(prefix) for prefix in self.prefixes]
        width = max(lengths)
        table = np.full((len(lengths), 1, width), _NONE)
        for row, prefix in zip(table, self.prefixes, strict=True):
            row[0, : len(prefix)] = prefix
        ids = op.Where(op.Cast(attention_mask, to=ir.DataType.BOOL), input_ids, _NONE)
        room = op.Concat(op.Shape(input_ids, start=0, end=1), [width], axis=0)
        begins = op.Slice(op.Concat(ids, op.Expand(_NONE, room), axis=1), [0], [width], [1])
        same = op.Or(
            op.Equal(op.Unsqueeze(begins, axes=[0]), _constant(builder, "ids", table)),
            _constant(builder, "behind", table == _NONE),
        )
        same = op.ReduceMin(op.Cast(same, to=ir.DataType.INT64), axes=[1, 2], keepdims=0)
        # A row that is nothing but the prefix would leave no token.
        shortest = op.ReduceMin(op.ReduceSum(attention_mask, axes=[1]), axes=[0, 1], keepdims=0)
        longer = op.Cast(op.Greater(shortest, lengths), to=ir.DataType.INT64)
        begun = op.Mul(op.Mul(same, longer), lengths)
        which = op.ArgMax(begun, axis=0, keepdims=1)
        length = op.Identity(op.Gather(begun, which))
        length.producer().metadata_props[PREFIX] = "length"
        begin = op.Gather([0, *accumulate(lengths[:-1])], which)
        batch = op.Concat(op.Shape(input_ids, start=0, end=1), [1, 1, 1], axis=0)
        layers = [
            (
                _constant(builder, f"{layer}.keys", keys),
                _constant(builder, f"{layer}.values", values),
            )
            for layer, (keys, values) in enumerate(self.layers)
        ]
        return Past(length, begin, op.Add(begin, length), batch, tuple(layers))


def _constant(builder: GraphBuilder, name: str, array: NDArray[np.generic]) -> ir.Value:
    return builder.initializer(ir.tensor(array, name=f"prefixes.{name}"), qualify=False)
