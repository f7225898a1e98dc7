"""The version of ONNX's file format that a graph needs.

A runtime refuses a file of a newer one than it knows, whatever the graph needs of it, and tools
write the newest that they know.
"""

from bisect import bisect
from collections.abc import Iterable, Iterator

import onnx
from onnxscript import ir

#: The first IR versions with functions, with defaults of a function's attributes, and with several
#: functions of a name. Source: onnx.proto, ``Version``, as for the types.
_FUNCTIONS, _DEFAULTS, _OVERLOADS = 8, 9, 10

#: The first type that an IR version added, and that version; types before these are older than any
#: opset that is baked.
_TYPES = (
    (onnx.TensorProto.FLOAT8E4M3FN, 9),
    (onnx.TensorProto.UINT4, 10),
    (onnx.TensorProto.FLOAT4E2M1, 11),
    (onnx.TensorProto.FLOAT8E8M0, 12),
    (onnx.TensorProto.FLOAT8E8M0 + 1, 13),  # UINT2, which onnx 1.19 does not name
    (onnx.TensorProto.FLOAT8E8M0 + 3, 14),  # FLOAT6E2M3
)


def lower_ir_version(model: ir.Model) -> None:
    """Give ``model`` the lowest IR version that its opset, types and functions need, in place.

    A runtime that knows the opset knows the IR version that came with it. Metadata of nodes do not
    count: a reader that does not know them passes over them.
    """
    known = onnx.helper.OP_SET_ID_VERSION_MAP
    model.ir_version = max(
        known.get(("ai.onnx", model.opset_imports[""]), onnx.IR_VERSION),
        *map(_of_type, _types(model)),
        *map(_of_function, model.functions.values()),
    )


def _of_type(dtype: ir.DataType) -> int:
    index = bisect([first for first, _ in _TYPES], dtype)
    return _TYPES[index - 1][1] if index else 0


def _of_function(function: ir.Function) -> int:
    if function.overload:
        return _OVERLOADS
    defaults = any(attribute.value is not None for attribute in function.attributes.values())
    return _DEFAULTS if defaults else _FUNCTIONS


def _types(model: ir.Model) -> Iterator[ir.DataType]:
    """Yield the types of weights, of values, and of the constants that nodes hold."""
    for graph in model.graphs():
        yield from _typed([*graph.inputs, *graph.initializers.values()])
    parts: list[ir.Graph | ir.Function] = [model.graph, *model.functions.values()]
    for part in parts:
        for node in ir.traversal.RecursiveGraphIterator(part):
            yield from _typed(node.outputs)
            for attribute in node.attributes.values():
                if attribute.type == ir.AttributeType.TENSOR:
                    yield attribute.as_tensor().dtype


def _typed(values: Iterable[ir.Value]) -> Iterator[ir.DataType]:
    return (value.dtype for value in values if value.dtype is not None)
