"""Give a network's parameters the weights of a checkpoint, one tensor in memory at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from onnxscript import nn

from polybake.encoders.layers import Linear
from polybake.encoders.stored_tensor import StoredTensor, stored_tensors
from polybake.errors import InputError

#: What is widened to float32; transformers' ``dtype="float32"`` does the same.
_FLOATS = ("F32", "F16", "BF16")

#: Names of TensorFlow's layer normalisation, which old checkpoints carry.
_OLD_NAMES = {"LayerNorm.gamma": "LayerNorm.weight", "LayerNorm.beta": "LayerNorm.bias"}

#: A number that PyTorch's batch normalisation counts in training, and needs for nothing else.
_COUNTER = "num_batches_tracked"


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
            parameter.const_value = tensor.lazy(transposed=transposed)
    problems += [f"unexpected {name}" for name in stored if not name.startswith(ignored)]
    if problems:
        raise InputError(
            f"{files[0]}: does not fit the network: {'; '.join(problems)}; "
            "use a configuration and weights that were saved together"
        )


def _parameters(network: nn.Module) -> Iterator[tuple[str, nn.Parameter, bool]]:
    """Each parameter with its checkpoint name and whether the checkpoint stores it transposed."""
    for path, module in network.named_modules():
        for name, parameter in module.named_parameters(path, recurse=False):
            transposed = isinstance(module, Linear) and parameter is module.weight
            yield name, parameter, transposed


def _stored(files: Sequence[Path], prefix: str) -> Iterator[tuple[str, StoredTensor]]:
    """Each tensor of the checkpoint under the name that the module tree gives it."""
    for path in files:
        for tensor in stored_tensors(path):
            if not tensor.name.endswith(_COUNTER):
                yield _known_as(tensor.name, prefix), tensor


def _known_as(name: str, prefix: str) -> str:
    name = name.removeprefix(prefix)
    for old, new in _OLD_NAMES.items():
        if name.endswith(old):
            return name.removesuffix(old) + new
    return name
