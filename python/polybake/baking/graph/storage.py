"""Store each weight in the narrowest type that holds its exact values, or in float16.

The weights of a checkpoint in bfloat16 or float16 are widened to float32, in which the graph
computes. Stored narrow, each has a Cast behind it, which ONNX Runtime folds as it loads (seen from
1.20 to 1.31): half the bytes, and the same vectors bit for bit. The Cast of a table stands behind
the Gather, so that a table stays narrow in memory, too.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from onnxscript import ir

from polybake.base.modelfile.manifest import Storage
from polybake.errors import InputError

_WIDE = ir.DataType.FLOAT

#: The least bytes of a weight for which an extra node is worth it.
_SMALLEST = 4096

LARGEST_FLOAT16 = float(np.finfo(np.float16).max)

#: The elements that are checked at a time: the first block shows that most weights are wide.
_BLOCK = 1 << 20


def store_narrow(
    model: ir.Model, storage: Storage = "checkpoint", vocab_size: int | None = None
) -> None:
    """Store the float32 weights of ``model`` narrow, in place: only without loss, or rounded."""
    tables = [table for table, _ in token_tables(model, vocab_size)]
    for weight, tensor in wide_weights(model):
        array = tensor.numpy()
        narrow = _narrowest(array)
        rounded = storage == "float16" or (storage == "float16-table" and weight in tables)
        if narrow is None and rounded:
            _check_range(weight, array)
            narrow = ir.DataType.FLOAT16
        if narrow is not None:
            _store(model.graph, weight, tensor, narrow)


def wide_weights(model: ir.Model) -> Iterator[tuple[ir.Value, ir.TensorProtocol]]:
    """The float32 weights that are large enough to be stored in another type."""
    for weight in list(model.graph.initializers.values()):
        tensor = weight.const_value
        if tensor is not None and tensor.dtype == _WIDE and tensor.nbytes >= _SMALLEST:
            yield weight, tensor


def token_tables(
    model: ir.Model, vocab_size: int | None
) -> Iterator[tuple[ir.Value, ir.TensorProtocol]]:
    """The float32 weights of ``vocab_size`` rows that a node looks rows up in."""
    for weight, tensor in wide_weights(model):
        if tensor.shape[0] == vocab_size and any(_looks_up(*use) for use in weight.uses()):
            yield weight, tensor


def _looks_up(node: ir.Node, index: int) -> bool:
    return node.op_type == "Gather" and index == 0 and not node.attributes.get_int("axis", 0)


def as_float16(weight: ir.Value, name: str) -> ir.Value:
    """Return a float16 initializer of this name with the rounded numbers of ``weight``."""
    tensor = weight.const_value
    assert tensor is not None  # noqa: S101 - an initializer

    def rounded() -> ir.TensorProtocol:
        array = tensor.numpy()
        _check_range(weight, array)
        return ir.tensor(array.astype(np.float16), name=name)

    shape = ir.Shape(tensor.shape.numpy())
    return ir.Value(
        name=name,
        shape=shape,
        type=ir.TensorType(ir.DataType.FLOAT16),
        const_value=ir.LazyTensor(rounded, ir.DataType.FLOAT16, shape, name=name),
    )


def _check_range(weight: ir.Value, array: NDArray[np.float32]) -> None:
    largest = float(np.abs(array).max())
    if largest > LARGEST_FLOAT16:
        raise InputError(
            f"weight {weight.name} holds {largest:g}, and float16 at most {LARGEST_FLOAT16:g}; "
            'set storage = "checkpoint" and precision = "float32" in [model]'
        )


def _narrowest(array: NDArray[np.float32]) -> ir.DataType | None:
    """Return the 16-bit type that holds every number exactly; None if no type does."""
    if all(not (block.view(np.uint32) & 0xFFFF).any() for block in _blocks(array)):
        return ir.DataType.BFLOAT16
    with np.errstate(over="ignore"):
        if all(np.array_equal(block.astype(np.float16), block) for block in _blocks(array)):
            return ir.DataType.FLOAT16
    return None


def _blocks(array: NDArray[np.float32]) -> Iterator[NDArray[np.float32]]:
    flat = array.reshape(-1)
    return (flat[start : start + _BLOCK] for start in range(0, flat.size, _BLOCK))


def _store(
    graph: ir.Graph, weight: ir.Value, tensor: ir.TensorProtocol, narrow: ir.DataType
) -> None:
    """Put a narrow initializer of the same name in the place of ``weight``."""
    name = weight.name or ""
    stored = ir.Value(
        name=name,
        shape=weight.shape,
        type=ir.TensorType(narrow),
        const_value=ir.LazyTensor(
            lambda: ir.tensor(tensor.numpy().astype(narrow.numpy())),
            narrow,
            ir.Shape(tensor.shape.numpy()),
        ),
    )
    graph.initializers.pop(name)
    weight.name = f"{name}.float32"
    graph.initializers.add(stored)
    for node, index in list(weight.uses()):
        if node.op_type == "Gather" and index == 0 and node.graph is graph:
            node.replace_input_with(0, stored)
            _widen_behind(graph, node, narrow)
    users = [node for node, _ in weight.uses()]
    if users:
        wide = cast(stored, _WIDE, weight.name, users[0])
        graph.insert_before(graph[0], wide)
        weight.replace_all_uses_with(wide.outputs[0])


def _widen_behind(graph: ir.Graph, gather: ir.Node, narrow: ir.DataType) -> None:
    """Cast the output of ``gather`` to float32, under its old name."""
    rows = gather.outputs[0]
    wide = cast(rows, _WIDE, rows.name or "", gather)
    rows.name = f"{rows.name}.stored"
    rows.replace_all_uses_with(wide.outputs[0], replace_graph_outputs=True)
    wide.replace_input_with(0, rows)
    rows.dtype = narrow
    graph.insert_after(gather, wide)


def cast(value: ir.Value, dtype: ir.DataType, name: str, beside: ir.Node) -> ir.Node:
    """Return a Cast in the namespace of the node ``beside``, with this name of its output."""
    node = ir.node("Cast", [value], {"to": dtype}, name=f"{name}.cast")
    node.metadata_props.update(beside.metadata_props)
    output = node.outputs[0]
    output.name, output.dtype, output.shape = name, dtype, value.shape
    return node


def drop_unused_weights(graph: ir.Graph) -> None:
    """Remove the initializers that no node uses and that are no graph output."""
    for weight in list(graph.initializers.values()):
        if not weight.uses() and not weight.is_graph_output():
            graph.initializers.pop(str(weight.name))
