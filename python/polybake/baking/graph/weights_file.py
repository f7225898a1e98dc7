"""Weights that lie in a file beside their graph, each written after the other.

Source: ONNX, docs/ExternalData.md; docs/format.md has the layout of the file.
"""

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnxscript import ir

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
    found = [0]
    for tensor in tensors:
        found.append(-(-(found[-1] + tensor.nbytes) // _PAGE) * _PAGE)
    return found


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
    """Write the tensors, of which one at a time is read; return SHA-256 (hex) of the file.

    Raises:
        OSError: The disk is full.
    """
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
