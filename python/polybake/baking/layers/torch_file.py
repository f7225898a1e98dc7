"""The tensors of a file that ``torch.save`` wrote of a state dict, read without PyTorch.

The file is a zip whose entries are not compressed: a pickle, and the numbers of each storage. A
pickle is a program; here it has the operations that a state dict is written in, three functions
and ten classes of storages. Any other operation or name ends the reading, no name is looked up
anywhere, and an operation makes one value at most.

Source: ``torch/serialization.py`` and ``torch/_utils.py`` of PyTorch 2.15, whose format is that of
1.6; Python's ``pickletools``.
"""

import io
import math
import re
import zipfile
from collections import OrderedDict
from collections.abc import Callable
from functools import partial
from pathlib import Path
from pickletools import genops
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from polybake.base.files.printable import printable
from polybake.errors import InputError

#: The largest pickle or list of entries, in bytes; operations, of which a tensor takes some 30;
#: characters of a name; axes, as in NumPy 1; numbers that other axes of an empty tensor span.
_LARGEST, _MOST, _LONGEST, _AXES, _SPAN = 4 << 20, 300_000, 1_000, 32, 1 << 48
#: Characters of a value in a message, and of a message.
_SHOWN, _MESSAGE = 80, 600
_ZIP = b"PK\3\4"
#: What a file begins with that a PyTorch before 1.6 wrote: its magic number, pickled.
_OLD = b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."

_CONSTANTS = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False}
#: The dtype of a storage by its class: safetensors' name, and NumPy's.
_STORAGES: dict[str, tuple[str, np.dtype[Any]]] = {
    "torch DoubleStorage": ("F64", np.dtype("<f8")),
    "torch FloatStorage": ("F32", np.dtype("<f4")),
    "torch HalfStorage": ("F16", np.dtype("<f2")),
    "torch BFloat16Storage": ("BF16", np.dtype(ml_dtypes.bfloat16)),
    "torch LongStorage": ("I64", np.dtype("<i8")),
    "torch IntStorage": ("I32", np.dtype("<i4")),
    "torch ShortStorage": ("I16", np.dtype("<i2")),
    "torch CharStorage": ("I8", np.dtype(np.int8)),
    "torch ByteStorage": ("U8", np.dtype(np.uint8)),
    "torch BoolStorage": ("BOOL", np.dtype(np.bool_)),
}


class _Function(NamedTuple):
    name: str


#: What stands for each name that a state dict has.
_NAMES = {
    "collections OrderedDict": _Function("OrderedDict"),
    "torch._utils _rebuild_tensor_v2": _Function("_rebuild_tensor_v2"),
    "torch._utils _rebuild_parameter": _Function("_rebuild_parameter"),
    **_STORAGES,
}


class Storage(NamedTuple):
    """So many numbers of a dtype, under a name in digits."""

    key: str
    dtype: str
    numpy: np.dtype[Any]
    size: int


class View(NamedTuple):
    """A tensor: numbers of a storage, all of them within it, and no more than it has."""

    storage: Storage
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    @property
    def extent(self) -> int:
        """How many numbers of the storage lie from its first to its last."""
        lasts = zip(self.shape, self.strides, strict=True)
        return 0 if 0 in self.shape else 1 + sum((size - 1) * stride for size, stride in lasts)


class TorchTensor(NamedTuple):
    """A tensor of a file, and what reads its numbers."""

    view: View
    array: Callable[[], NDArray[Any]]


class _Bounded(io.BufferedReader):
    """A file for zipfile, which reads a list of entries as long as the file says that it is."""

    def read(self, size: int | None = -1) -> bytes:
        if size is not None and size > _LARGEST:
            raise ValueError(f"has an entry or a list of {size} bytes, expected at most {_LARGEST}")
        return super().read(size)


def torch_tensors(path: Path) -> dict[str, TorchTensor]:
    """Return the tensors of a file by name; what is no such file, or holds more, is refused."""
    try:
        with _Bounded(io.FileIO(path)) as file:
            if (begins := file.read(len(_OLD))) == _OLD:
                raise InputError(
                    f"{path}: a PyTorch before 1.6 wrote it, expected a later one; if you trust "
                    "whoever made it, load it with torch.load(…, weights_only=True), and write it "
                    "with safetensors.torch.save_file"
                )
            if not begins.startswith(_ZIP):
                raise ValueError(f"begins with {begins!r}, expected a zip file of PyTorch")
            archive = zipfile.ZipFile(file)
            names = archive.namelist()
            roots = [name[:-8] for name in names if re.fullmatch(r"[^/]+/data\.pkl", name)]
            if len(roots) != 1 or len({*names}) != len(names):
                raise ValueError("has entries twice, or not one data.pkl in one folder")
            entry = partial(_place, file, archive, roots[0])
            if roots[0] + "byteorder" in names and _content(file, *entry("byteorder")) != b"little":
                raise ValueError("has numbers that are not little endian; save it elsewhere")
            views = read_state_dict(_content(file, *entry("data.pkl")), path)
            begin = {
                view.storage: entry(f"data/{view.storage.key}", view.storage)[0]
                for view in views.values()
            }
    except InputError:
        raise
    except Exception as error:  # a damaged zip file ends in errors of many kinds
        known = isinstance(error, ValueError | OSError)
        reason = printable(str(error) if known else f"is no whole zip file ({error})")
        raise InputError(
            f"{path}: {reason}; download it again, or get the weights as safetensors from whoever "
            "made them"
        ) from error
    return {
        name: TorchTensor(view, partial(_array, path, view, begin[view.storage]))
        for name, view in views.items()
    }


def _content(file: _Bounded, begin: int, size: int) -> bytes:
    file.seek(begin)
    return file.read(size)


def _place(
    file: _Bounded, archive: zipfile.ZipFile, root: str, name: str, held: Storage | None = None
) -> tuple[int, int]:
    """Return where an entry's content begins in the file, and its size, which is a storage's."""
    entry = archive.getinfo(root + name)
    size = entry.file_size
    if entry.compress_type != zipfile.ZIP_STORED:
        raise ValueError(f"has the entry {name}, expected entries that are not compressed")
    if held is not None and size != (expected := held.size * held.numpy.itemsize):
        raise ValueError(
            f"has {size} bytes in {name}, expected {expected}: {held.size} numbers of {held.dtype}"
        )
    with archive.open(entry):  # reads the entry's own header
        begin = file.tell()
    if begin + size > file.seek(0, io.SEEK_END):
        raise ValueError(f"has no whole entry {name}")
    return begin, size


def _array(path: Path, view: View, begin: int) -> NDArray[Any]:
    size, extent = view.storage.numpy.itemsize, view.extent
    if not extent:
        return np.empty(view.shape, view.storage.numpy)
    numbers = np.memmap(path, view.storage.numpy, "r", begin + view.offset * size, (extent,))
    strides = [stride * size for stride in view.strides]
    return np.array(np.lib.stride_tricks.as_strided(numbers, view.shape, strides), order="C")


def read_state_dict(data: bytes, path: Path) -> dict[str, View]:
    """Return the tensors of a pickled state dict by name; ``path`` is for messages."""
    try:
        state = run_pickle(data)
        if not isinstance(state, dict):
            raise ValueError(f"is {_shown(state)}, expected a dict of tensors")
        for name, value in state.items():
            if not isinstance(value, View):
                raise ValueError(f"has {_shown(name)}, {_shown(value)}, expected tensors alone")
    except (ValueError, LookupError, Warning) as error:  # of an escape that Python does not know
        damaged = isinstance(error, LookupError)
        reason = "takes a value where there is none" if damaged else str(error)[:_MESSAGE]
        raise InputError(
            f"{path}: its pickle {printable(reason)}; get the weights as safetensors from whoever "
            "made them"
        ) from error
    return state


def run_pickle(data: bytes) -> object:
    """Return what one pickle describes; an error names what no state dict needs."""
    stack: list[Any] = []
    marks: list[list[Any]] = []  # the stack below each mark
    memo: dict[int, object] = {}
    argument: Any
    for count, (opcode, argument, position) in enumerate(genops(data)):
        if count == _MOST:
            raise ValueError(f"has more than {_MOST} operations")
        match opcode.name:
            case "PROTO":
                if argument != 2:
                    raise ValueError(f"has protocol {argument}, expected 2")
            case "STOP":
                if position != len(data) - 1 or marks or len(stack) != 1:
                    raise ValueError("leaves something behind, expected one value")
            case "NONE" | "NEWTRUE" | "NEWFALSE":
                stack.append(_CONSTANTS[opcode.name])
            case "BINUNICODE" | "BININT" | "BININT1" | "BININT2" | "LONG1":
                stack.append(argument)
            case "BINPUT" | "LONG_BINPUT":
                memo[argument] = stack[-1]
            case "BINGET" | "LONG_BINGET":
                stack.append(memo[argument])
            case "GLOBAL":
                if argument not in _NAMES:
                    path, *known = (name.replace(" ", ".") for name in (argument, *_NAMES))
                    names = ", ".join(known)
                    raise ValueError(f"names {_shown(path)}, expected one of: {names}")
                stack.append(_NAMES[argument])
            case "BINPERSID":
                stack.append(_storage(stack.pop()))
            case "REDUCE":
                arguments = stack.pop()
                stack.append(_called(stack.pop(), arguments))
            case "EMPTY_TUPLE":
                stack.append(())
            case "TUPLE1" | "TUPLE2" | "TUPLE3":
                items = [stack.pop() for _ in range(int(opcode.name[-1]))]
                stack.append(tuple(items[::-1]))
            case "EMPTY_DICT":
                stack.append({})
            case "MARK":
                marks.append(stack)
                stack = []
            case "TUPLE":
                items, stack = stack, marks.pop()
                stack.append(tuple(items))
            case "SETITEMS":
                items, stack = stack, marks.pop()
                _set(stack[-1], items)
            case "SETITEM":
                value, key = stack.pop(), stack.pop()
                _set(stack[-1], [key, value])
            case "BUILD":
                state = stack.pop()
                # Versions of modules. Source: torch.nn.Module.state_dict
                versions = isinstance(state, dict) and [*state] == ["_metadata"]
                if not versions or not isinstance(stack[-1], OrderedDict):
                    raise ValueError("has a state (BUILD), expected _metadata of a state dict")
            case name:
                shown = f" ({_shown(argument)})" if isinstance(argument, str) else ""
                raise ValueError(f"has the operation {name}{shown}, which no state dict needs")
    return stack[0]


def _set(target: object, items: list[Any]) -> None:
    if not isinstance(target, dict) or len(items) % 2:
        raise ValueError("sets items of what is no dict")
    for key, value in zip(items[::2], items[1::2], strict=True):
        # Half of a surrogate pair, say, could stand in no message.
        name = isinstance(key, str) and len(key) <= _LONGEST and key.isprintable()
        if not name or key in target:
            raise ValueError(f"has the key {_shown(key)}, expected a name, and each once")
        target[key] = value


def _storage(described: object) -> Storage:
    """Source: ``persistent_id`` in ``torch.serialization._save``."""
    match described:
        case ("storage", (str(dtype), np.dtype() as numpy), str(key), str(), size) if (
            len(key) < 10 and key.isascii() and key.isdigit()
        ):
            return Storage(key, dtype, numpy, *_counts(size))
    raise ValueError("has a persistent id (BINPERSID) that is no storage's")


def _called(function: object, arguments: object) -> object:
    """Source: ``_rebuild_tensor_v2``, whose seventh argument may negate the numbers."""
    match function, arguments:
        case _Function("OrderedDict"), ():
            return OrderedDict()
        case _Function("_rebuild_parameter"), (View() as view, bool(), dict(hooks)):
            if not hooks:
                return view
        case (
            _Function("_rebuild_tensor_v2"),
            (Storage() as storage, offset, tuple(shape), tuple(strides), bool(), dict(hooks)),
        ):
            if len(shape) == len(strides) <= _AXES and not hooks:
                return _view(storage, _counts(offset)[0], _counts(*shape), _counts(*strides))
    name = function.name if isinstance(function, _Function) else "no function"
    raise ValueError(f"calls {name} (REDUCE) with other arguments than a state dict has")


def _view(storage: Storage, offset: int, shape: tuple[int, ...], strides: tuple[int, ...]) -> View:
    strides = tuple(stride if size > 1 else 0 for size, stride in zip(shape, strides, strict=True))
    view = View(storage, offset, shape, strides)
    # An expanded tensor has more numbers than its storage: a few bytes would fill a memory.
    most = _SPAN if 0 in shape else storage.size
    if offset + view.extent > storage.size or math.prod(size or 1 for size in shape) > most:
        raise ValueError(
            f"has a tensor of shape {_shown([*shape])}, strides {_shown([*strides])} and offset "
            f"{offset}, expected one of at most the {storage.size} numbers of its storage"
        )
    return view


def _counts(*values: object) -> tuple[int, ...]:
    counts = tuple(value for value in values if type(value) is int and 0 <= value < 1 << 63)
    if len(counts) != len(values):
        raise ValueError("has a size, an offset or a stride that is no number from 0 on")
    return counts


def _shown(value: object) -> str:
    """Describe a value in a few characters: a text or numbers by themselves, others by type."""
    if not isinstance(value, str | int | list):
        return f"of type {type(value).__name__}"
    text = repr(value[:_SHOWN]) if isinstance(value, str) else str(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
