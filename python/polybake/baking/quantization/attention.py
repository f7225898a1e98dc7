"""Compute a graph's attention by one operator.

Operators of their own write the scores of all pairs of tokens three times, and lay out the rows of
each head anew. ONNX has ``Attention`` since opset 23, and ONNX Runtime has it on every processor
since 1.24, which all clients need.
"""

from collections.abc import Sequence

import numpy as np
from onnxscript import OpBuilder, ir
from onnxscript.rewriter import RewriteRule, RewriteRuleSet
from onnxscript.rewriter.pattern import OrValue

from polybake.baking.graph.namespace import namespace
from polybake.baking.graph.opset import can_raise_opset, raise_opset
from polybake.baking.quantization.nodes import Nodes

#: The opset since which ONNX has the operator.
_OPSET = 23

#: Between ``[batch, rows, heads, size]`` and ``[batch, heads, rows, size]``.
_BY_HEAD = [0, 2, 1, 3]


def fuse_attention(model: ir.Model) -> None:
    """Put one operator in the place of those of each attention, in place.

    A graph whose operators do not mean the same in the opset of ``Attention`` stays as it is.
    """
    if not can_raise_opset(model, _OPSET):
        return
    before = {*ir.traversal.RecursiveGraphIterator(model.graph)}  # in branches, too
    if RewriteRuleSet([RewriteRule(_heads, _attention, _is_known)]).apply_to_model(model):
        RewriteRuleSet([RewriteRule(_rows, _attention_of_rows, _splits)]).apply_to_model(model)
        raise_opset(model, _OPSET)
        attentions = [
            node for node in ir.traversal.RecursiveGraphIterator(model.graph) if node not in before
        ]
        for node in attentions:
            node.name = "/".join([*namespace(node), str(node.name)])
        _repeat_biases(attentions)


def _heads(
    op: OpBuilder,
    query: ir.Value,
    key: ir.Value,
    value: ir.Value,
    bias: ir.Value,
    divisor: ir.Value,
    factor: ir.Value,
) -> ir.Value:
    """Compute attention of ``[batch, heads, rows, size]`` by matmuls and a softmax."""
    scores = op.MatMul(query, op.Transpose(key, perm=[0, 1, 3, 2]))
    scaled = OrValue([op.Div(scores, divisor), op.Mul(scores, factor), scores])
    mixed: ir.Value = op.MatMul(op.Softmax(op.Add(scaled, bias), axis=-1), value)
    return mixed


def _is_known(
    _: object,
    divisor: ir.Value | None = None,
    factor: ir.Value | None = None,
    **values: ir.Value,
) -> bool:
    """Whether the scale is a constant, and all else has four axes."""
    scales = [value.const_value for value in (divisor, factor) if value is not None]
    shapes = [value.shape for value in values.values()]
    return all(scale is not None and scale.size == 1 for scale in scales) and all(
        shape is not None and len(shape) == 4 for shape in shapes
    )


def _attention(
    op: OpBuilder,
    query: ir.Value,
    key: ir.Value,
    value: ir.Value,
    bias: ir.Value,
    divisor: ir.Value | None = None,
    factor: ir.Value | None = None,
) -> ir.Value:
    """`_heads` in one operator."""
    scale = _number(factor) / _number(divisor)
    mixed: ir.Value = op.Attention(query, key, value, bias, scale=scale)
    return mixed


def _number(value: ir.Value | None) -> float:
    return 1.0 if value is None else float(_constant(value).item())


def _constant(value: ir.Value) -> np.ndarray:
    return np.empty(0) if value.const_value is None else value.const_value.numpy()


def _rows(
    op: OpBuilder,
    query: ir.Value,
    key: ir.Value,
    value: ir.Value,
    bias: ir.Value,
    scale: float,
    split: ir.Value,
    merged: ir.Value,
) -> ir.Value:
    """Attention of ``[batch, rows, heads * size]``."""
    heads = (op.Transpose(op.Reshape(item, split), perm=_BY_HEAD) for item in (query, key, value))
    mixed = op.Attention(*heads, bias, scale=scale)
    rows: ir.Value = op.Reshape(op.Transpose(mixed, perm=_BY_HEAD), merged)
    return rows


def _splits(_: object, split: ir.Value, merged: ir.Value, **__: object) -> bool:
    """Whether the shapes leave batch and rows as they are."""
    return [(len(shape), *shape[:2]) for shape in map(_constant, (split, merged))] == [
        (4, 0, 0),
        (3, 0, 0),
    ]


def _attention_of_rows(
    op: OpBuilder,
    query: ir.Value,
    key: ir.Value,
    value: ir.Value,
    bias: ir.Value,
    scale: ir.Attr,
    split: ir.Value,
    **_: object,
) -> ir.Value:
    """`_rows` in one operator."""
    heads = int(_constant(split)[2])
    rows: ir.Value = op.Attention(
        query, key, value, bias, scale=scale.value, q_num_heads=heads, kv_num_heads=heads
    )
    return rows


def _repeat_biases(attentions: Sequence[ir.Node]) -> None:
    """Give every query a row of a bias that has one for all; ONNX Runtime repeats none."""
    repeated: dict[tuple[object, ...], ir.Value] = {}
    for node in attentions:
        (query, _, _, bias), graph = node.inputs, node.graph
        assert query and query.shape and bias and bias.shape  # noqa: S101, PT018 - `_is_known`
        assert isinstance(graph, ir.Graph)  # noqa: S101 - no function's
        alike = (graph, bias, query.shape[-2])
        if bias.shape[-2] == 1 and alike not in repeated:
            nodes = Nodes(graph, node, "attention")
            queries = nodes.op("Shape", query, start=-2, end=-1)
            shape = nodes.op("Concat", queries, nodes.constant("1", np.array([1])), axis=0)
            repeated[alike] = nodes.op("Expand", bias, shape)
        node.replace_input_with(3, repeated.get(alike, bias))
