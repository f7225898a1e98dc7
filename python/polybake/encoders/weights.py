"""Give a network's parameters the weights of a checkpoint, one tensor in memory at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from onnxscript import ir, nn
from safetensors import SafetensorError, safe_open

from polybake.encoders.layers import Linear
from polybake.errors import InputError

#: What is widened to float32; transformers' ``dtype="float32"`` does the same.
_FLOATS = ("F32", "F16", "BF16")

#: Names of TensorFlow's layer normalisation, which old checkpoints carry.
_OLD_NAMES = {"LayerNorm.gamma": "LayerNorm.weight", "LayerNorm.beta": "LayerNorm.bias"}

#: A number that PyTorch's batch normalisation counts in training, and needs for nothing else.
_COUNTER = "num_batches_tracked"


@dataclass(frozen=True)
class _Stored:
    """One tensor of a checkpoint, not read yet."""

    file: Path
    name: str
    shape: tuple[int, ...]
    dtype: str

    def read(self, transposed: bool) -> ir.TensorProtocol:
        with safe_open(self.file, framework="numpy") as file:
            array = file.get_tensor(self.name).astype(np.float32, copy=False)
        return ir.tensor(np.ascontiguousarray(array.T) if transposed else array)


def load_weights(
    network: nn.Module, files: Sequence[Path], *, prefix: str = "", ignored: tuple[str, ...] = ()
) -> None:
    """Give every parameter of ``network`` its tensor, read only when it is written.

    Args:
        network: The module tree; a `Linear` weight is transposed from ``[out, in]``.
        files: The safetensors files that together hold the checkpoint.
        prefix: What may stand before each name in the files, such as ``bert.``.
        ignored: Beginnings of names that the network does not need.

    Raises:
        InputError: a file is damaged, or weights are missing, unexpected, wrongly shaped or of
            an unknown dtype; one message lists them all.
    """
    stored = dict(_stored(files, prefix))
    problems: list[str] = []
    for name, parameter, transposed in _parameters(network):
        tensor = stored.pop(name, None)
        if tensor is None:
            problems.append(f"missing {name}")
            continue
        expected = tuple(size for size in parameter.shape or () if isinstance(size, int))
        found = tensor.shape[::-1] if transposed else tensor.shape
        if found != expected:
            wanted = expected[::-1] if transposed else expected
            problems.append(f"{name} has shape {list(tensor.shape)}, expected {list(wanted)}")
        elif tensor.dtype not in _FLOATS:
            problems.append(f"{name} is {tensor.dtype}, expected one of {', '.join(_FLOATS)}")
        else:
            parameter.const_value = _lazy(tensor, transposed, expected)
    problems += [f"unexpected {name}" for name in stored if not name.startswith(ignored)]
    if problems:
        raise InputError(
            f"{files[0]}: does not fit the network: {'; '.join(problems)}; "
            "use a configuration and weights that were saved together"
        )


def _lazy(tensor: _Stored, transposed: bool, shape: tuple[int, ...]) -> ir.LazyTensor:
    return ir.LazyTensor(lambda: tensor.read(transposed), ir.DataType.FLOAT, ir.Shape(shape))


def _parameters(network: nn.Module) -> Iterator[tuple[str, nn.Parameter, bool]]:
    """Each parameter with its checkpoint name and whether the checkpoint stores it transposed."""
    for path, module in network.named_modules():
        for name, parameter in module.named_parameters(path, recurse=False):
            transposed = isinstance(module, Linear) and parameter is module.weight
            yield name, parameter, transposed


def _stored(files: Sequence[Path], prefix: str) -> Iterator[tuple[str, _Stored]]:
    """Each tensor of the checkpoint under the name that the module tree gives it."""
    for path in files:
        try:
            with safe_open(path, framework="numpy") as file:
                for name in file.keys():  # noqa: SIM118 - safe_open is no mapping
                    if name.endswith(_COUNTER):
                        continue
                    tensor = file.get_slice(name)
                    shape = tuple(tensor.get_shape())
                    yield _known_as(name, prefix), _Stored(path, name, shape, tensor.get_dtype())
        except (SafetensorError, OSError) as error:
            raise InputError(
                f"{path}: is not a whole safetensors file ({error}); download it again"
            ) from error


def _known_as(name: str, prefix: str) -> str:
    name = name.removeprefix(prefix)
    for old, new in _OLD_NAMES.items():
        if name.endswith(old):
            return name.removesuffix(old) + new
    return name
