"""The positions of tokens in their text, as ids of position tables."""

from onnxscript import OpBuilder, ir


def positions(op: OpBuilder, ids: ir.Value) -> ir.Value:
    """Count int64 ``[batch, sequence, ...]`` from 0: int64 ``[sequence]``."""
    counted: ir.Value = op.Range(0, op.Squeeze(op.Shape(ids, start=1, end=2), axes=[0]), 1)
    counted.shape = ir.Shape(["sequence"])  # which inference cannot know
    return counted


def positions_after_padding(op: OpBuilder, ids: ir.Value, padding_id: int) -> ir.Value:
    """Count int64 ``[batch, sequence]`` from ``padding_id + 1``, in the same shape.

    Padding has position ``padding_id`` and is not counted, even if the text spells it.

    Source: transformers ``create_position_ids_from_input_ids``.
    """
    counted = op.Cast(op.Not(op.Equal(ids, padding_id)), to=ir.DataType.INT64)
    return op.Add(op.Mul(op.CumSum(counted, 1), counted), padding_id)


def distances(op: OpBuilder, x: ir.Value) -> ir.Value:
    """How far each key stands after each query of ``[batch, sequence, ...]``.

    Returns:
        int64 ``[query, key]``, negative for keys before the query.
    """
    places = positions(op, x)
    return op.Sub(op.Unsqueeze(places, axes=[0]), op.Unsqueeze(places, axes=[1]))
