"""The tensors of a state dict that PyTorch pickled, described without unpickling.

Source: ``torch/_utils.py`` and ``torch/serialization.py`` of PyTorch 2.15.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path

from polybake.baking.layers.pickle_machine import Call, PickleMachine, shortened
from polybake.base.files.printable import printable
from polybake.errors import InputError

#: The dtype of a storage by its module and class in PyTorch, under safetensors' name.
_STORAGES = {
    "torch DoubleStorage": "F64",
    "torch FloatStorage": "F32",
    "torch HalfStorage": "F16",
    "torch BFloat16Storage": "BF16",
    "torch LongStorage": "I64",
    "torch IntStorage": "I32",
    "torch ShortStorage": "I16",
    "torch CharStorage": "I8",
    "torch ByteStorage": "U8",
    "torch BoolStorage": "BOOL",
}

#: Axes of a tensor, which NumPy 1 takes no more of.
_AXES = 32

#: Numbers that the other axes of an empty tensor span, far below what NumPy takes.
_SPAN = 1 << 48

#: Characters of a message from the reading.
_LONGEST = 600


@dataclass(frozen=True)
class _StorageClass:
    dtype: str


@dataclass(frozen=True)
class Storage:
    """Numbers that tensors are views of.

    Attributes:
        key: Its name in the file, in digits.
        dtype: The dtype by safetensors' name, such as ``F16``.
        size: How many numbers it has.
    """

    key: str
    dtype: str
    size: int


@dataclass(frozen=True)
class View:
    """A tensor: numbers of a storage, all of them within it, and no more than it has.

    Attributes:
        offset: The place of the first number in the storage.
        strides: How many numbers lie between neighbours of each axis; 0 for an axis of one.
    """

    storage: Storage
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    @property
    def extent(self) -> int:
        """How many numbers of the storage lie from its first to its last."""
        lasts = zip(self.shape, self.strides, strict=True)
        return 0 if 0 in self.shape else 1 + sum((size - 1) * stride for size, stride in lasts)


def read_state_dict(data: bytes, path: Path) -> dict[str, View]:
    """Return the tensors of a pickled state dict by name.

    Args:
        data: The pickle.
        path: The file that it lies in, for messages.

    Raises:
        InputError: It is damaged, or holds anything but tensors; the message names the operation
            or the name that no state dict needs.
    """
    try:
        return _tensors(PickleMachine(_NAMES, _storage).run(data))
    except (ValueError, Warning) as error:  # Python warns of an escape that it does not know
        reason = printable(str(error)[:_LONGEST])
        raise InputError(
            f"{path}: its pickle {reason}; get the weights as safetensors from whoever made them"
        ) from error


def _tensors(found: object) -> dict[str, View]:
    if not isinstance(found, dict):
        raise ValueError(f"is {shortened(found)}, expected a dict of tensors")
    for name, value in found.items():
        if not isinstance(value, View):
            raise ValueError(f"has {shortened(name)}, {shortened(value)}, expected tensors alone")
    return found


def _storage(described: object) -> Storage:
    """Source: ``persistent_id`` in ``torch.serialization._save``."""
    match described:
        case ("storage", _StorageClass(dtype=dtype), str(key), str(), size) if (
            len(key) < 10 and key.isascii() and key.isdigit()
        ):
            (size,) = _counts(size)
            return Storage(key, dtype, size)
    raise ValueError("has a persistent id (BINPERSID) that is no storage's")


def _ordered_dict(arguments: tuple[object, ...]) -> OrderedDict[str, object]:
    if arguments:
        raise ValueError("calls collections.OrderedDict with arguments, expected none")
    return OrderedDict()


def _tensor(arguments: tuple[object, ...]) -> View:
    """Source: ``torch._utils._rebuild_tensor_v2``; a seventh argument may negate the numbers."""
    match arguments:
        case (Storage() as storage, offset, tuple(shape), tuple(strides), bool(), dict(hooks)) if (
            len(shape) == len(strides) <= _AXES and not hooks
        ):
            (first,) = _counts(offset)
            return _view(storage, first, _counts(*shape), _counts(*strides))
    raise ValueError(
        "calls torch._utils._rebuild_tensor_v2 with other arguments than a storage, an offset, a "
        f"shape and strides of at most {_AXES} axes, and no hooks"
    )


def _view(storage: Storage, offset: int, shape: tuple[int, ...], strides: tuple[int, ...]) -> View:
    strides = tuple(stride if size > 1 else 0 for size, stride in zip(shape, strides, strict=True))
    view = View(storage, offset, shape, strides)
    span = math.prod(size or 1 for size in shape)
    most = _SPAN if 0 in shape else storage.size
    # An expanded tensor has more numbers than its storage: a few bytes would fill a memory.
    if offset + view.extent > storage.size or span > most:
        raise ValueError(
            f"has a tensor of shape {shortened([*shape])}, strides {shortened([*strides])} and "
            f"offset {offset}, expected one of at most the {storage.size} numbers of its storage"
        )
    return view


def _parameter(arguments: tuple[object, ...]) -> View:
    """Source: ``torch._utils._rebuild_parameter``."""
    match arguments:
        case (View() as view, bool(), dict(hooks)) if not hooks:
            return view
    raise ValueError(
        "calls torch._utils._rebuild_parameter with other arguments than a tensor, and no hooks"
    )


def _counts(*values: object) -> tuple[int, ...]:
    counts = tuple(value for value in values if type(value) is int and 0 <= value < 1 << 63)
    if len(counts) != len(values):
        raise ValueError("has a size, an offset or a stride that is no number from 0 on")
    return counts


_NAMES = {
    "collections OrderedDict": Call(_ordered_dict),
    "torch._utils _rebuild_tensor_v2": Call(_tensor),
    "torch._utils _rebuild_parameter": Call(_parameter),
    **{name: _StorageClass(dtype) for name, dtype in _STORAGES.items()},
}
