"""Pickled state dicts are refused, or read as Python's own machine reads them."""

from __future__ import annotations

import io
import pickle
import pickletools
import random
import struct
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from models.folders.torch_saved import CLASSES, Parameter, Storage, Tensor, pickled, state_of
from polybake.baking.layers.torch_file import View, read_state_dict
from polybake.errors import InputError
from support.processes.watched import nothing_runs
from support.samples.weekly import weekly_but

PATH = Path("model.bin")
SEEDS = weekly_but(2, range(8))

ARRAYS = {
    f"layers.{number}.weight": np.arange(6).reshape(2, 3).astype(dtype)
    for number, dtype in enumerate(CLASSES)
}

_TENSOR = b"ctorch._utils\n_rebuild_tensor_v2\n"
_PARAMETER = b"ctorch._utils\n_rebuild_parameter\n"
_HOOKS = b"ccollections\nOrderedDict\n)R"
_FLOAT = b"ctorch\nFloatStorage\n"


def text(value: str) -> bytes:
    return b"X" + struct.pack("<I", len(value.encode())) + value.encode()


def number(value: int) -> bytes:
    return pickle.dumps(value, protocol=2)[2:-1]


def numbers(*values: int) -> bytes:
    return b"(" + b"".join(map(number, values)) + b"t"


def storage(kind: bytes = _FLOAT, key: str = "0", size: bytes = b"K\6") -> bytes:
    return b"(" + text("storage") + kind + text(key) + text("cpu") + size + b"tQ"


def tensor(*arguments: bytes) -> bytes:
    """A call with these instead of the first of its usual arguments."""
    usual = [storage(), b"K\0", numbers(2, 3), numbers(3, 1), b"\x89", _HOOKS]
    return _TENSOR + b"(" + b"".join([*arguments, *usual[len(arguments) :]]) + b"tR"


def state(value: bytes, name: str = "a") -> bytes:
    return b"\x80\2}" + text(name) + value + b"s."


def read(data: bytes) -> dict[str, View]:
    with nothing_runs():
        return read_state_dict(data, PATH)


HOOKED = b"}" + text("h") + b"Ns"


def test_an_empty_state_dict() -> None:
    """A module without weights has one."""
    assert read(pickled(state_of({}))[0]) == {}


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (tensor(storage(), number(1)), r"shape \[2, 3\], .* and offset 1, .* the 6 n"),
        (tensor(storage(), number(-1)), "no number from 0 on"),
        (tensor(storage(), number(1 << 63)), "no number from 0 on"),
        (tensor(storage(), number((1 << 63) - 1)), "and offset 9223372036854775807, expected"),
        (tensor(storage(), b"K\0", numbers(2, -3)), "no number from 0 on"),
        (tensor(storage(), b"K\0", numbers(2, 3), numbers(3, 2)), r"strides \[3, 2\]"),
        (tensor(storage(), b"K\0", numbers(1 << 40), numbers(0)), r"shape \[1099511627776\]"),
        (tensor(storage(), b"K\0", numbers(*[1 << 62] * 32), numbers(*[0] * 32)), "shape .*…"),
        (tensor(storage(), b"K\0", numbers(0, 1 << 62), numbers(1, 1)), r"shape \[0, 46"),
        (tensor(storage(), b"K\0", numbers(2, 3), numbers(3)), "with other arguments"),
        (tensor(storage(), b"K\0", numbers(*[1] * 33), numbers(*[1] * 33)), "with other arguments"),
        (tensor(storage(), b"K\0", number(6), numbers(1)), "with other arguments"),
        (tensor(storage(), b"K\0", numbers(2, 3), numbers(3, 1), b"N"), "with other arguments"),
        (
            tensor(storage(), b"K\0", numbers(6), numbers(1), b"\x89", HOOKED),
            "with other arguments",
        ),
        (tensor(storage(), b"K\0", numbers(6), numbers(1), b"\x89", _HOOKS, b"}"), "with other"),
        (_TENSOR + storage() + b"R", "_tensor_v2 .* with other"),
        (
            _PARAMETER + storage() + b"\x89" + _HOOKS + b"\x87R",
            "_rebuild_parameter .REDUCE. with other",
        ),
        (
            _PARAMETER + tensor() + b"\x89" + HOOKED + b"\x87R",
            "_rebuild_parameter .REDUCE. with other",
        ),
        (b"ccollections\nOrderedDict\n}\x85R", "OrderedDict .* with other arguments"),
        (_FLOAT + b")R", "calls no function"),
        (text("x") + b"Q", "no storage's"),
        (storage(key="../0"), "no storage's"),
        (storage(key="٣"), "no storage's"),
        (storage(kind=_TENSOR), "no storage's"),
        (storage(size=number(-1)), "no number from 0 on"),
        (storage(), "has 'a', of type Storage, expected tensors alone"),
        (b"N", "has 'a', of type NoneType, expected tensors alone"),
        (text("x" * 200), "has 'a', 'x{79}…, expected tensors alone"),
        (tensor() + b"}" + text("_metadata") + b"Nsb", r"has a state \(BUILD\)"),
    ],
)
def test_refuses_other_arguments(value: bytes, shown: str) -> None:
    """What is no view of a storage is no tensor, whoever wrote it."""
    with pytest.raises(InputError, match=rf"model\.bin: its pickle .*{shown}.*; get the weights"):
        read(state(value))


@pytest.mark.parametrize("data", [b"\x80\2N.", b"\x80\2).", b"\x80\2" + tensor() + b"."])
def test_refuses_what_is_no_dict(data: bytes) -> None:
    """One tensor, say."""
    with pytest.raises(InputError, match=r"is of type \w+, expected a dict of tensors"):
        read(data)


@pytest.mark.parametrize(
    "name",
    [
        *("os\nsystem", "builtins\ngetattr", "collections\nOrderedDict.update"),
        *("copyreg\n_reconstructor", "numpy.core.multiarray\n_reconstruct", "torch\nload"),
        *("torch\nFloatStorage.from_file", "torch.storage\n_load_from_bytes"),
        "torch._utils\n_rebuild_tensor_v2.__globals__",
        *("torch._utils\n_rebuild_parameter_with_state", " collections\nOrderedDict"),
        *("torch\n_utils._rebuild_tensor_v2", "torch._utils _rebuild_tensor_v2\n"),
        *("torch\nfloatstorage", "\n"),
    ],
)
def test_refuses_other_names(name: str) -> None:
    """Each is refused by its name, whether it is called or not."""
    shown = ".".join(name.split("\n")).replace(" ", ".")
    with pytest.raises(InputError, match="its pickle names ") as caught:
        read(state(b"c" + name.encode() + b"\n"))
    assert f"names '{shown}', expected one of: collections.OrderedDict, torch._utils._reb" in str(
        caught.value
    )


def test_a_message_is_printable_and_short() -> None:
    """Whatever a file says, a terminal is not controlled by it."""
    for value in (
        b"c" + b"\\x1b[2J" * 1000 + b"\nb\n",
        b"i\x1b[2J\nb\n",
        b"F\x1b[2J" * 999 + b"\n",
    ):
        with pytest.raises(InputError) as caught:
            read(state(value))
        assert str(caught.value).isprintable()
        assert len(str(caught.value)) < 1000


class Reference(pickle._Unpickler):
    """Python's own machine, with functions in the place of PyTorch's that keep their arguments."""

    def persistent_load(self, pid: Any) -> object:
        _, kind, key, _, size = pid
        return key, kind, size

    def find_class(self, module: str, name: str) -> object:
        made = {
            "collections OrderedDict": OrderedDict,
            "torch._utils _rebuild_tensor_v2": lambda *arguments: arguments[:4],
            "torch._utils _rebuild_parameter": lambda *arguments: arguments[0],
            **{f"torch {kind}": kind for kind in CLASSES.values()},
        }
        return made[f"{module} {name}"]


def referred(data: bytes) -> dict[str, object]:
    """What Python's machine makes of it."""
    found: dict[str, Any] = Reference(io.BytesIO(data)).load()
    return {
        name: (
            *given,
            offset,
            shape,
            tuple(stride if size > 1 else 0 for size, stride in zip(shape, strides, strict=True)),
        )
        for name, (given, offset, shape, strides) in found.items()
    }


_DTYPES = dict(
    zip(
        ["F64", "F32", "F16", "BF16", "I64", "I32", "I16", "I8", "U8", "BOOL"],
        CLASSES.values(),
        strict=True,
    )
)


def agrees(data: bytes) -> bool:
    """Whether it is read; then Python's machine reads the same, all of it within its storages."""
    try:
        found = read(data)
    except InputError as error:
        message = str(error)
        assert message.startswith("model.bin: its pickle ") and message.isprintable()  # noqa: PT018
        return False
    for view in found.values():
        assert view.offset + view.extent <= view.storage.size
        assert np.prod(view.shape, dtype=object) <= max(view.storage.size, 1 << 48)
    assert referred(data) == {
        name: (
            view.storage.key,
            _DTYPES[view.storage.dtype],
            view.storage.size,
            view.offset,
            view.shape,
            view.strides,
        )
        for name, view in found.items()
    }
    return True


def base() -> bytes:
    """A pickle with whatever a state dict has."""
    shared = Storage(np.zeros(300, np.float32))
    saved = state_of({name: ARRAYS[name] for name in [*ARRAYS][::3]})
    saved["bias"] = Parameter(Tensor(shared, 256, (2, 3), (4, 1)))
    saved["empty"] = Tensor(shared, 300, (0, 3), (3, 1))
    return pickled(saved)[0]


def mutated(data: bytes, draw: random.Random) -> bytes:
    """One to four changes: bytes, spans, or operations put in, left out, moved or doubled."""
    made = bytearray(data)
    codes = [opcode.code.encode("latin-1") for opcode in pickletools.opcodes]
    for _ in range(draw.randint(1, 4)):
        at = draw.randrange(len(made))
        end = min(len(made), at + draw.choice([1, 1, 2, 5, 30, 200]))
        match draw.randrange(6):
            case 0:
                made[at] = draw.randrange(256)
            case 1:
                made[at] = (made[at] + draw.choice([1, -1])) % 256
            case 2:
                del made[at:end]
            case 3:
                made[at:at] = draw.choice(codes) + draw.randbytes(draw.randrange(3))
            case 4:
                made[at:at] = made[draw.randrange(len(made)) :][: end - at]
            case _:
                made[at : at + 1] = draw.choice(codes)
    return bytes(made)


@pytest.mark.filterwarnings("ignore:invalid escape")
@pytest.mark.parametrize("seed", SEEDS)
def test_every_change_is_refused_or_read_as_python_does(seed: int) -> None:
    """Changed pickles give another state dict or an error, and run nothing."""
    draw, data = random.Random(seed), base()  # noqa: S311 - no secrets
    assert agrees(data)
    read_again = sum(agrees(mutated(data, draw)) for _ in range(1500))
    assert 10 < read_again < 1400


@pytest.mark.parametrize("seed", SEEDS[:4])
def test_every_program_is_refused_or_read_as_python_does(seed: int) -> None:
    """Operations in any order, most of which would do something."""
    draw = random.Random(seed)  # noqa: S311 - no secrets
    pieces = [
        *(b"}", b")", b"(", b"t", b"u", b"s", b"b", b"R", b"Q", b"N", b"\x88", b"\x85", b"\x87"),
        *(b"h\0", b"q\0", b"h\1", b"q\1", _TENSOR, _PARAMETER, _HOOKS, _FLOAT),
        *(text("a"), text("b")),
        *(tensor(), storage(), numbers(2, 3), number(5), text("_metadata"), b"0", b"2", b"]", b"a"),
        *(b"cos\nsystem\n", b"\x81", b"o", b"e", b"\x93", b"}" + text("_metadata") + b"}s"),
        *(text("c") + tensor() + b"s", text("d") + tensor() + b"s"),
    ]
    for _ in range(6000):
        program = b"".join(draw.choices(pieces, k=draw.randint(1, 8)))
        agrees(b"\x80\2" + draw.choice([b"", b"}"]) + program + b".")
