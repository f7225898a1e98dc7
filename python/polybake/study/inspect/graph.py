"""Read the graph of any ONNX file for display: without its weights, with its shapes."""

import contextlib
import math
from collections.abc import Iterator
from pathlib import Path

import onnx
from google.protobuf.message import DecodeError
from onnxscript import ir

from polybake.baking.graph.skeleton import read_skeleton
from polybake.baking.graph.validate import validate
from polybake.errors import InputError

#: Weights of more bytes are not read at all.
_LARGEST_WEIGHT = 4096

#: Elements of the largest initializer that may decide a shape, such as the target of a Reshape.
_LARGEST_SHAPE = 64

#: Characters of the longest metadata that a viewer is given: a tokenizer has millions.
_LONGEST_METADATA = 4096

#: The prefix of the names that shape inference gives to unknown sizes.
_UNKNOWN = "unk__"

_DTYPES = {"FLOAT": "float32", "DOUBLE": "float64"}


def read_graph(path: Path) -> ir.Model:
    """Read a model, and infer the shapes that it does not state."""
    with _onnx_only(path):
        model: ir.Model = ir.from_proto(_read(path))
        return model


def read_skeleton_graph(path: Path) -> bytes:
    """Return the same as an ONNX file, without weights and without long metadata."""
    with _onnx_only(path):
        proto = _read(path)
    short = [entry for entry in proto.metadata_props if len(entry.value) <= _LONGEST_METADATA]
    del proto.metadata_props[:]
    proto.metadata_props.extend(short)
    content: bytes = proto.SerializeToString()
    return content


def _read(path: Path) -> onnx.ModelProto:
    proto = read_skeleton(path, _LARGEST_WEIGHT)
    if not proto.graph.node:
        raise InputError(f"{path}: has no graph; give the path of an .onnx file")
    validate(proto, path)
    for tensor in proto.graph.initializer:
        _forget_data(tensor)
    # If shape inference refuses a graph, the graph is shown with the shapes that it states.
    with contextlib.suppress(onnx.shape_inference.InferenceError):
        proto = onnx.shape_inference.infer_shapes(proto, data_prop=True)
    return proto


@contextlib.contextmanager
def _onnx_only(path: Path) -> Iterator[None]:
    """Refuse a file that cannot be read, or holds no ONNX graph."""
    try:
        yield
    except OSError as error:
        raise InputError(
            f"{path}: cannot be read ({error.strerror}); give the path of an .onnx file"
        ) from error
    except (DecodeError, ValueError, ir.serde.SerdeError) as error:
        raise InputError(
            f"{path}: is not a valid ONNX file; give the path of an .onnx file"
        ) from error


def dtype_text(value: ir.Value) -> str | None:
    """Return a value's dtype, such as ``float32``; None if it is unknown."""
    return None if value.dtype is None else _DTYPES.get(value.dtype.name, value.dtype.name.lower())


def shape_sizes(value: ir.Value) -> list[int | str] | None:
    """Return each size as a number, a name or ``?``; None if the rank is unknown."""
    if value.shape is None:
        return None
    return [size if isinstance(size, int) else _size_name(size) for size in value.shape]


def _size_name(size: ir.SymbolicDim) -> str:
    name = size.value or ""
    return "?" if not name or name.startswith(_UNKNOWN) else name


def _forget_data(tensor: onnx.TensorProto) -> None:
    """Keep only type and shape: this reads no files beside the model and saves memory."""
    external = tensor.data_location == onnx.TensorProto.EXTERNAL
    if external or math.prod(tensor.dims) > _LARGEST_SHAPE:
        header = onnx.TensorProto(name=tensor.name, data_type=tensor.data_type, dims=tensor.dims)
        tensor.CopyFrom(header)
