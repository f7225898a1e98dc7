"""Read an untrusted ONNX file, whose weights may lie in other files.

Source: ONNX, docs/ExternalData.md; the checks answer CVE-2024-27318, CVE-2026-34445 and kin.
"""

import math
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import onnx
from google.protobuf.message import DecodeError

from polybake.baking.graph.empty_inputs import drop_empty_inputs
from polybake.base.files.model_folder import ModelFolder
from polybake.base.modelfile.size_limit import check_size
from polybake.errors import InputError

_KEYS = {"location", "offset", "length", "checksum"}

_TYPES = set(onnx.TensorProto.DataType.values()) - {onnx.TensorProto.UNDEFINED}

#: Digits of the largest file; Python turns no text of thousands into a number.
_DIGITS = 19


def load_model(path: Path) -> onnx.ModelProto:
    """Load an ONNX file with its weights in the message, as ONNX Runtime can run it anywhere."""
    try:
        model: onnx.ModelProto = onnx.ModelProto.FromString(path.read_bytes())
    except (OSError, DecodeError) as error:
        raise InputError(
            f"{path}: is not a whole ONNX file ({error}); download it again"
        ) from error
    if not model.HasField("graph"):
        size = path.stat().st_size
        raise InputError(
            f"{path}: its {size} bytes hold no ONNX graph; export it again"
            if size
            else f"{path}: is empty; download or export it again"
        )
    tensors = list(_tensors(model, path))
    for tensor in tensors:
        if tensor.data_type not in _TYPES:
            raise InputError(
                f"{path}: weight {tensor.name!r} has impossible type {tensor.data_type}; "
                "export it again"
            )
    external = [tensor for tensor in tensors if tensor.data_location == onnx.TensorProto.EXTERNAL]
    folder = ModelFolder.at(path.parent)
    places = [place(tensor, folder, path) for tensor in external]
    check_size(path.stat().st_size + sum(length for _, _, length in places), path)
    for tensor, (name, offset, length) in zip(external, places, strict=True):
        with (path.parent / name).open("rb") as file:
            file.seek(offset)
            tensor.raw_data = file.read(length)
        tensor.ClearField("external_data")
        tensor.ClearField("data_location")
    try:
        widen(model)
    except ValueError as error:
        raise InputError(f"{path}: {error}; download it again") from error
    drop_empty_inputs(model)
    return model


def place(tensor: onnx.TensorProto, folder: ModelFolder, path: Path) -> tuple[str, int, int]:
    """Return the checked place of a tensor's bytes: file name, offset and length."""
    entries = {entry.key: entry.value for entry in tensor.external_data}
    if len(entries) != len(tensor.external_data) or not entries.keys() <= _KEYS:
        raise _refused(path, tensor, "keys", sorted(e.key for e in tensor.external_data))
    name = entries.get("location", "")
    file = folder.file(name)
    if file is None:
        raise InputError(
            f"{path}: weight {tensor.name!r} lies in {name!r}, which is not beside the file; "
            "download it too"
        )
    expected = _byte_size(tensor, path)
    numbers = [entries.get("offset", "0"), entries.get("length", str(expected))]
    if not all(value.isascii() and value.isdigit() and len(value) <= _DIGITS for value in numbers):
        raise _refused(path, tensor, "offset and length", numbers)
    offset, length = (int(number) for number in numbers)
    if length != expected or offset + length > file.stat().st_size:
        raise _refused(path, tensor, "offset and length", numbers)
    return name, offset, length


def _byte_size(tensor: onnx.TensorProto, path: Path) -> int:
    if tensor.data_type == onnx.TensorProto.STRING:
        raise _refused(path, tensor, "type", tensor.data_type)
    bits = onnx.helper.tensor_dtype_to_np_dtype(tensor.data_type).itemsize * 8
    if any(size < 0 for size in tensor.dims):
        raise _refused(path, tensor, "shape", list(tensor.dims))
    if tensor.data_type in (onnx.TensorProto.INT4, onnx.TensorProto.UINT4):
        bits = 4
    whole: int = math.prod(tensor.dims)
    return -(-whole * bits // 8)


def _refused(path: Path, tensor: onnx.TensorProto, what: str, value: object) -> InputError:
    return InputError(
        f"{path}: external data of weight {tensor.name!r} has impossible {what} {value}; "
        "download the file again"
    )


def _tensors(model: onnx.ModelProto, path: Path) -> Iterator[onnx.TensorProto]:
    """Every tensor of the model: of its graph, subgraphs, functions and attributes."""
    yield from _graph_tensors(model.graph, path)
    for function in model.functions:
        yield from _attribute_tensors(function.attribute_proto, path)
        yield from _node_tensors(function.node, path)


def _graph_tensors(graph: onnx.GraphProto, path: Path) -> Iterator[onnx.TensorProto]:
    if graph.sparse_initializer:
        raise _sparse(path)
    yield from graph.initializer
    yield from _node_tensors(graph.node, path)


def _node_tensors(nodes: Iterable[onnx.NodeProto], path: Path) -> Iterator[onnx.TensorProto]:
    for node in nodes:
        yield from _attribute_tensors(node.attribute, path)


def _attribute_tensors(
    attributes: Iterable[onnx.AttributeProto], path: Path
) -> Iterator[onnx.TensorProto]:
    for attribute in attributes:
        if attribute.HasField("sparse_tensor") or attribute.sparse_tensors:
            raise _sparse(path)
        if attribute.HasField("t"):
            yield attribute.t
        yield from attribute.tensors
        for graph in (attribute.g, *attribute.graphs):
            yield from _graph_tensors(graph, path)


def _sparse(path: Path) -> InputError:
    return InputError(f"{path}: has sparse weights, which are not supported; export them dense")


_NARROW = (onnx.TensorProto.FLOAT16, onnx.TensorProto.BFLOAT16)

#: Attributes of ONNX's operators that name the type of a result.
_TYPE_ATTRIBUTES = {"to", "dtype", "output_dtype", "output_datatype"}


def widen(model: onnx.ModelProto) -> None:
    """Make every narrow weight, constant, cast and declared type float32, in place.

    Runtimes choose where to round to 16 bits: they keep numbers wider between operators if they
    can, each in other places. Checkpoints are widened likewise.
    """
    _widen_graph(model.graph)
    for function in model.functions:
        _widen_types(function.value_info)
        _widen_nodes(function.node)


def _widen_graph(graph: onnx.GraphProto) -> None:
    for tensor in graph.initializer:
        _widen_tensor(tensor)
    for values in (graph.input, graph.output, graph.value_info):
        _widen_types(values)
    _widen_nodes(graph.node)


def _widen_nodes(nodes: Iterable[onnx.NodeProto]) -> None:
    for node in nodes:
        for attribute in node.attribute:
            if attribute.name in _TYPE_ATTRIBUTES and attribute.i in _NARROW:
                attribute.i = onnx.TensorProto.FLOAT
            for tensor in (attribute.t, *attribute.tensors):
                _widen_tensor(tensor)
            for graph in (attribute.g, *attribute.graphs):
                _widen_graph(graph)


def _widen_types(values: Iterable[onnx.ValueInfoProto]) -> None:
    for value in values:
        if value.type.tensor_type.elem_type in _NARROW:
            value.type.tensor_type.elem_type = onnx.TensorProto.FLOAT


def _widen_tensor(tensor: onnx.TensorProto) -> None:
    if tensor.data_type in _NARROW:
        try:
            array = onnx.numpy_helper.to_array(tensor).astype(np.float32)
        except ValueError as error:
            raise ValueError(
                f"weight {tensor.name!r} of shape {list(tensor.dims)} has other data ({error})"
            ) from error
        tensor.CopyFrom(onnx.numpy_helper.from_array(array, tensor.name))
