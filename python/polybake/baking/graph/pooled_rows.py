"""Compute only the rows that are pooled.

A vector that is one token's reads one row of a text in the last layer. Whatever computes rows by
themselves may then compute that row alone: queries, feed-forward blocks, norms, residual sums. Keys
and values are needed of every token, so that below them all rows are computed. Each number is the
same function of the same numbers as before. Metadata of nodes say what was changed; see `all_rows`.
"""

from dataclasses import dataclass, field

from onnx_ir.passes.common import ShapeInferencePass
from onnxscript import ir

from polybake.baking.graph.all_rows import MOVED, NAMESPACE

#: Operators that compute each element by itself, from those that broadcast to its place.
_ELEMENTWISE = {
    *("Abs", "Add", "Cast", "Clip", "Cos", "Div", "Erf", "Exp", "Gelu", "Identity", "Max", "Min"),
    *("Mul", "Neg", "Pow", "Reciprocal", "Relu", "Sigmoid", "Sin", "Softplus", "Sqrt", "Sub"),
    *("Sum", "Tanh", "Where"),
}

#: Operators along an axis and all behind it, or along one alone, with the axis where none is said.
_ALONG = {
    "Concat": None,
    "LayerNormalization": -1,
    "RMSNormalization": -1,
    "Softmax": -1,
    "Split": 0,
}

#: The opset since which `GatherND` chooses within each text.
_GATHER_ND_HAS_BATCHES = 12

#: The users of a value: nodes, and which of their inputs it is.
_Users = list[tuple[ir.Node, int]]


@dataclass(frozen=True)
class _Rows:
    """The axis of a value that its rows stand along, and which one it is in what is computed of it.

    They differ where the value has fewer axes and broadcasts.
    """

    axis: int
    place: int


#: Inputs of a node: their places, and where their rows stand.
_Operands = list[tuple[int, ir.Value, _Rows]]


@dataclass
class _Walk:
    """The way from a choice of rows upwards.

    Attributes:
        chosen: Where it ends: the values of which rows are to be chosen, and who takes these.
        apart: The values between, of which nothing but those rows is computed, with their axis.
    """

    chosen: dict[ir.Value, tuple[_Rows, _Users]]
    apart: dict[ir.Value, int] = field(default_factory=dict)


def compute_pooled_rows(model: ir.Model) -> None:
    """Move each `baking.pooling.choose_row` up to where rows depend on each other, in place."""
    choices = [node for node in model.graph if _index(node) is not None]
    if not choices or model.opset_imports[""] < _GATHER_ND_HAS_BATCHES:
        return
    if any(value.shape is None for node in model.graph for value in node.outputs):
        ShapeInferencePass()(model)  # other tools' exports lack shapes
    for node in choices:
        x, index = node.inputs[0], _index(node)
        if x is not None and index is not None:
            _move_up(model.graph, node, x, index)


def _index(node: ir.Node) -> ir.Value | None:
    """The index of a `choose_row`, int64 ``[batch, 1, 1]``; None for another node."""
    if node.op_type != "GatherElements" or node.attributes.get_int("axis", 0) != 1:
        return None
    expand = None if node.inputs[1] is None else node.inputs[1].producer()
    index = None if expand is None or expand.op_type != "Expand" else expand.inputs[0]
    shape = None if index is None else index.shape
    return index if shape is not None and len(shape) == 3 and shape[1:] == (1, 1) else None


def _move_up(graph: ir.Graph, choice: ir.Node, x: ir.Value, index: ir.Value) -> None:
    banned: set[ir.Node] = set()
    while True:
        walk = _walk(graph, choice, x, banned)
        impossible = {
            user
            for value, (rows, users) in walk.chosen.items()
            if not _can_choose(value, rows)
            for user, _ in users
        }
        if not impossible:
            break
        banned |= impossible
    if x in walk.chosen:
        return
    for value, (rows, users) in walk.chosen.items():
        pick = _choose(graph, value, index, rows)
        for user, slot in users:
            user.replace_input_with(slot, pick)
    for value, axis in walk.apart.items():
        if value.shape is not None:
            value.shape = ir.Shape([*value.shape[:axis], 1, *value.shape[axis + 1 :]])
    identity = ir.Node("", "Identity", [x], metadata_props=dict(choice.metadata_props))
    identity.metadata_props[MOVED] = str(index.name)
    choice.outputs[0].replace_all_uses_with(identity.outputs[0])
    graph.insert_before(choice, identity)
    graph.remove(choice, safe=True)
    graph.sort()


def _walk(graph: ir.Graph, choice: ir.Node, x: ir.Value, banned: set[ir.Node]) -> _Walk:
    """Walk from the last node to the first, so that a value's users are known before its node."""
    walk = _Walk({x: (_Rows(1, 1), [(choice, 0)])})
    wanted = walk.chosen
    for node in reversed(graph):
        outputs = [out for out in node.outputs if out.uses() or out.is_graph_output()]
        if node in banned or not outputs or not all(_rows_alone(out, wanted) for out in outputs):
            continue
        rows = {wanted[out][0].axis for out in outputs if _batched(out, wanted[out][0])}
        operands = _operands(node, rows.pop()) if len(rows) == 1 else None
        if operands is None or any(
            value in wanted and wanted[value][0] != axes for _, value, axes in operands
        ):
            continue
        for slot, value, axes in operands:
            wanted.setdefault(value, (axes, []))[1].append((node, slot))
        walk.apart |= {out: wanted.pop(out)[0].axis for out in outputs}
    return walk


def _rows_alone(value: ir.Value, wanted: dict[ir.Value, tuple[_Rows, _Users]]) -> bool:
    """Whether all users of a value take the chosen rows only."""
    if value not in wanted or value.is_graph_output():
        return False
    return {(node, slot) for node, slot in value.uses()} == {*wanted[value][1]}


def _operands(node: ir.Node, axis: int) -> _Operands | None:
    """Return the inputs of which a result row needs one row; None if it needs several rows."""
    result, kind = node.outputs[0].shape, node.op_type
    if result is None or node.domain:
        return None
    size = len(result)
    if kind in _ELEMENTWISE:
        return _broadcast(node, axis, size)
    if kind in _ALONG:
        along = node.attributes.get_int("axis", _ALONG[kind])
        if along is None or along % size <= axis:
            return None
        return _broadcast(node, axis, size) if kind == "Concat" else _first(node, axis)
    if kind == "MatMul":
        return _first(node, axis) if axis == size - 2 == _rank(node.inputs[0]) - 2 else None
    if kind == "Transpose":
        return _first(node, node.attributes.get_ints("perm")[axis])
    if kind == "ReduceMean":
        axes = _constant(node, 1) or [*node.attributes.get_ints("axes", ())]  # before opset 18
        apart = axes and axis not in [number % size for number in axes]
        intact = node.attributes.get_int("keepdims", 1) == 1
        return _first(node, axis) if apart and intact else None
    if kind == "Reshape":
        intact = axis == 1 and node.attributes.get_int("allowzero", 0) == 0
        return _first(node, axis) if intact and _constant(node, 1)[:2] == [0, 0] else None
    return None


def _first(node: ir.Node, axis: int) -> _Operands | None:
    """Return the first input, with the axis of its rows, if its shape is known."""
    value = node.inputs[0]
    if value is None or value.shape is None:
        return None
    return [(0, value, _Rows(axis, axis))]


def _broadcast(node: ir.Node, axis: int, size: int) -> _Operands | None:
    """Return the inputs that have the axis of the rows; others are the same for each row."""
    operands: _Operands = []
    for slot, value in enumerate(node.inputs):
        if value is None or value.shape is None:
            return None
        own = axis - size + len(value.shape)
        if own >= 0 and value.shape[own] != 1:
            operands.append((slot, value, _Rows(own, axis)))
    return operands


def _batched(value: ir.Value, rows: _Rows) -> bool:
    """Whether each text has rows of its own."""
    return rows.axis == rows.place and value.shape is not None and value.shape[0] != 1


def _can_choose(value: ir.Value, rows: _Rows) -> bool:
    """Whether the axes before the rows are what `_choose` knows."""
    before = [] if value.shape is None else [*value.shape[: rows.axis]]
    return all(size == 1 for size in (before[1:3] if _batched(value, rows) else before)) and (
        rows.axis < 3
    )


def _choose(graph: ir.Graph, value: ir.Value, index: ir.Value, rows: _Rows) -> ir.Value:
    """Add the choice of a row of each text; the graph is sorted later."""

    def add(kind: str, *inputs: ir.Value, **attributes: int) -> ir.Value:
        metadata = {"namespace": NAMESPACE}
        attrs = [ir.AttrInt64(*item) for item in attributes.items()]
        node = ir.Node("", kind, inputs, attrs, metadata_props=metadata)
        graph.append(node)
        return node.outputs[0]

    def constant(*numbers: int) -> ir.Value:
        name = f"pooled_rows.{len(graph.initializers)}"
        tensor = ir.tensor(numbers, ir.DataType.INT64, name=name)
        graph.register_initializer(ir.Value(name=name, const_value=tensor))
        return graph.initializers[name]

    if _batched(value, rows):
        if rows.axis == 1:
            return add("GatherND", value, index, batch_dims=1)
        pick = add("GatherND", add("Squeeze", value, constant(1)), index, batch_dims=1)
        return add("Unsqueeze", pick, constant(1))
    alone = add("Squeeze", value, constant(*range(rows.axis))) if rows.axis else value
    places = ir.Node("", "Reshape", [index, constant(-1, *[1] * rows.place)])
    graph.append(places)
    return add("Gather", alone, places.outputs[0], axis=0)


def _rank(value: ir.Value | None) -> int:
    return -1 if value is None or value.shape is None else len(value.shape)


def _constant(node: ir.Node, slot: int) -> list[int]:
    """Return the integers of a constant input; none where it is not there or not constant."""
    value = node.inputs[slot] if slot < len(node.inputs) else None
    if value is None or value.const_value is None:
        return []
    return [int(number) for number in value.const_value.numpy().reshape(-1)]
