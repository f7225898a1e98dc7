"""Refuse an ONNX message that no tool could have written, before anything walks its graph."""

from collections.abc import Iterator
from pathlib import Path

import onnx
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from polybake.base.files.printable import printable
from polybake.errors import InputError


def validate(model: onnx.ModelProto, path: Path) -> None:
    """Check that a model's strings are text, and that its nodes, attributes and names are valid.

    Weights are not checked: they may be missing, or lie elsewhere. Nor are the types of inputs and
    outputs, which some exporters leave out.
    """
    # Protobuf does not check ONNX's strings, and returns invalid UTF-8 as bytes.
    for field, value in _strings(model):
        if isinstance(value, bytes):
            shown = value.decode("utf-8", "backslashreplace")
            raise _refused(path, f"{field} {shown!r:.80} is not UTF-8")
    try:
        onnx.checker.check_model(_names_and_nodes(model))
    except onnx.checker.ValidationError as error:
        raise _refused(path, printable(" ".join(str(error).split()))) from error


def _refused(path: Path, reason: str) -> InputError:
    return InputError(f"{path}: is not a valid ONNX graph ({reason}); download or export it again")


def _strings(message: Message) -> Iterator[tuple[str, str | bytes]]:
    for field, value in message.ListFields():
        values = (value,) if isinstance(value, str | bytes | Message) else value
        if field.type == FieldDescriptor.TYPE_STRING:
            yield from ((field.name, item) for item in values)
        elif field.type == FieldDescriptor.TYPE_MESSAGE:
            for item in values:
                yield from _strings(item)


def _names_and_nodes(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return the part for the checker, which else needs data of weights and types of values."""
    graph = model.graph
    inputs = [value.name for value in graph.input]
    sparse = (tensor.values for tensor in graph.sparse_initializer)
    weights = {tensor.name for tensor in (*graph.initializer, *sparse)} - {*inputs}
    return onnx.ModelProto(
        ir_version=model.ir_version,
        opset_import=model.opset_import,
        functions=model.functions,
        graph=onnx.GraphProto(
            name=graph.name,
            node=graph.node,
            input=map(_scalar, [*inputs, *sorted(weights)]),
            output=map(_scalar, [value.name for value in graph.output]),
        ),
    )


def _scalar(name: str) -> onnx.ValueInfoProto:
    return onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [])
