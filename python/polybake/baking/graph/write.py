"""Write a graph as ONNX protobuf, one weight in memory at a time.

Serialising a model as one message holds all its weights several times over. Here the message
without initializers is serialised by onnx, and each initializer is then appended at the wire
level: repeated fields may stand anywhere in their message.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
import onnx
from numpy.typing import NDArray
from onnxscript import ir

from polybake.baking.graph.empty_inputs import drop_empty_inputs
from polybake.baking.graph.ir_version import lower_ir_version
from polybake.baking.graph.nodes import every_node
from polybake.base.modelfile.protobuf import varint
from polybake.base.modelfile.size_limit import LARGEST_FILE
from polybake.errors import InputError

#: Field numbers of onnx.proto, each of wire type 2 (length-delimited).
_MODEL_GRAPH = b"\x3a"
_GRAPH_INITIALIZER = b"\x2a"
_TENSOR_RAW_DATA = b"\x4a"

#: Metadata of the tool that traced the graph; nothing reads it.
_TRACING_KEYS = "pkg.onnxscript."


@dataclass(frozen=True)
class _Entry:
    """An initializer's bytes up to its raw data, and the tensor that fills them up."""

    header: bytes
    tensor: ir.Tensor[Any] | None

    @property
    def size(self) -> int:
        return len(self.header) + (self.tensor.nbytes if self.tensor is not None else 0)


@dataclass(frozen=True)
class GraphFile:
    """A model as protobuf, whose weights are read only when it is written.

    Attributes:
        beside: The weights that lie in a file beside it, in their order.
        weights: The name of that file; empty without one.
    """

    start: bytes
    entries: tuple[_Entry, ...]
    beside: tuple[ir.TensorProtocol, ...] = ()
    weights: str = ""

    @property
    def size(self) -> int:
        """Bytes of the whole file, without the weights beside it."""
        return len(self.start) + sum(entry.size for entry in self.entries)

    def write(self, path: Path) -> str | None:
        """Write the file, and its weights beside it: the same bytes for the same graph.

        Returns:
            SHA-256 (hex) of the weights; None where the graph holds them.
        """
        try:
            with path.open("wb") as file:
                self.write_to(file)
            if self.weights:
                return write_weights(self.beside, path.with_name(self.weights))
        except OSError as error:
            size = self.size + offsets(self.beside)[-1]
            raise InputError(
                f"{path}: cannot be written ({error.strerror or error}); make room for "
                f"{size} bytes, or name another folder in TMPDIR"
            ) from error
        return None

    def write_to(self, file: BinaryIO) -> None:
        """Write the same to an open file."""
        file.write(self.start)
        for entry in self.entries:
            file.write(entry.header)
            if entry.tensor is not None:
                entry.tensor.tofile(file)


def write_to_run(model: ir.Model, path: Path, largest: int = LARGEST_FILE) -> None:
    """Write ``model`` for ONNX Runtime alone: weights beyond one file's size go beside it."""
    file = serialize(model)
    if file.size > largest:
        file = serialize(model, f"{path.name}.weights")
    file.write(path)


def serialize(model: ir.Model, weights: str = "") -> GraphFile:
    """Lay ``model`` out as protobuf; only its IR version is changed."""
    lower_ir_version(model)
    initializers = list(model.graph.initializers.values())
    model.graph.initializers.clear()
    try:
        proto = ir.to_proto(model)
    finally:
        for value in initializers:
            model.graph.initializers.add(value)
    drop_empty_inputs(proto)
    for node in every_node(proto):
        props = [entry for entry in node.metadata_props if not entry.key.startswith(_TRACING_KEYS)]
        del node.metadata_props[:]
        node.metadata_props.extend(props)
    graph = proto.graph.SerializeToString(deterministic=True)
    proto.ClearField("graph")
    rest = proto.SerializeToString(deterministic=True)
    tensors = {value: value.const_value for value in initializers if value.const_value is not None}
    external = {value: item for value, item in tensors.items() if weights and lies_beside(item)}
    places = dict(zip(external, offsets([*external.values()]), strict=False))
    entries = tuple(
        _whole(described(value, weights, places[value])) if value in places else _entry(value)
        for value in initializers
    )
    size = len(graph) + sum(entry.size for entry in entries)
    start = rest + _MODEL_GRAPH + varint(size) + graph
    return GraphFile(start, entries, tuple(external.values()), weights)


def _entry(value: ir.Value) -> _Entry:
    # The protocol of tensors leaves out tofile, which every tensor has.
    tensor = cast("ir.Tensor[Any]", value.const_value)
    if tensor.dtype == ir.DataType.STRING:
        return _whole(ir.to_proto(tensor))
    described = onnx.TensorProto(
        dims=tuple(tensor.shape.numpy()), data_type=int(tensor.dtype), name=value.name
    )
    body = described.SerializeToString(deterministic=True)
    body += _TENSOR_RAW_DATA + varint(tensor.nbytes)
    return _Entry(_GRAPH_INITIALIZER + varint(len(body) + tensor.nbytes) + body, tensor)


def _whole(tensor: onnx.TensorProto) -> _Entry:
    body = tensor.SerializeToString(deterministic=True)
    return _Entry(_GRAPH_INITIALIZER + varint(len(body)) + body, None)


#: The least bytes of a weight that lies beside the graph.
_SMALLEST = 4096

#: Offsets are multiples of it, so that a runtime can map each weight.
_PAGE = 4096

#: Bytes that are hashed and written at a time.
_BLOCK = 1 << 24


def lies_beside(tensor: ir.TensorProtocol) -> bool:
    """Whether a weight is large enough for a file beside the graph."""
    return tensor.dtype != ir.DataType.STRING and tensor.nbytes >= _SMALLEST


def offsets(tensors: Sequence[ir.TensorProtocol]) -> list[int]:
    """Return where each tensor begins, in bytes, and where a next one would."""
    starts = [0]
    for tensor in tensors:
        starts.append(-(-(starts[-1] + tensor.nbytes) // _PAGE) * _PAGE)
    return starts


def described(value: ir.Value, file: str, offset: int) -> onnx.TensorProto:
    """Return the initializer of a weight that lies beside the graph."""
    tensor = value.const_value
    assert tensor is not None  # noqa: S101 - an initializer
    proto = onnx.TensorProto(
        dims=tuple(tensor.shape.numpy()),
        data_type=int(tensor.dtype),
        name=value.name,
        data_location=onnx.TensorProto.EXTERNAL,
    )
    for key, entry in (("location", file), ("offset", offset), ("length", tensor.nbytes)):
        proto.external_data.add(key=key, value=str(entry))
    return proto


def write_weights(tensors: Sequence[ir.TensorProtocol], path: Path) -> str:
    """Write the tensors, of which one at a time is read; return SHA-256 (hex) of the file."""
    digest, length = hashlib.sha256(), 0
    with path.open("wb") as file:
        for tensor, offset in zip(tensors, offsets(tensors), strict=False):
            for block in (bytes(offset - length), *_blocks(tensor)):
                digest.update(block)
                file.write(block)
            length = offset + tensor.nbytes
    return digest.hexdigest()


def _blocks(tensor: ir.TensorProtocol) -> Iterator[bytes]:
    """The bytes of a tensor, a part at a time."""
    if tensor.dtype.bitwidth < 8:  # several numbers in a byte
        yield tensor.tobytes()
        return
    numbers: NDArray[Any] = np.ascontiguousarray(tensor.numpy()).reshape(-1)
    step = max(1, _BLOCK // numbers.itemsize)
    for begin in range(0, numbers.size, step):
        yield numbers[begin : begin + step].tobytes()
