"""Files that PyTorch saved: what is read of them, and what is refused."""

from __future__ import annotations

import random
import struct
import zipfile
from collections import OrderedDict
from pathlib import Path

import numpy as np
import pytest

from models.folders.torch_saved import (
    CLASSES,
    Parameter,
    Storage,
    Tensor,
    entries_of,
    state_of,
    write_torch,
    write_zip,
)
from polybake.baking.layers.torch_file import torch_tensors
from polybake.errors import InputError
from support.processes.watched import nothing_runs
from support.samples.weekly import weekly_but

DRAWN = np.random.default_rng(5).normal(0, 30, (4, 3, 2))
ARRAYS = {CLASSES[dtype]: DRAWN.astype(dtype) for dtype in CLASSES}


@pytest.mark.parametrize("aligned", [False, True])
def test_reads_every_dtype(aligned: bool, tmp_path: Path) -> None:
    """Numbers are the same, wherever they lie in the file."""
    entries = {"archive/.pad": b"a"} if not aligned else {}
    path = write_zip(tmp_path / "m.bin", entries | entries_of(state_of(ARRAYS)))
    found = torch_tensors(path)
    assert [*found] == [*ARRAYS]
    for name, array in ARRAYS.items():
        read = found[name].array()
        assert (read.dtype, read.shape) == (array.dtype, array.shape)
        assert read.tobytes() == array.tobytes()
        assert type(read) is np.ndarray


def test_reads_views(tmp_path: Path) -> None:
    """Views are read as copies in C order, whatever their strides."""
    whole = np.arange(60, dtype=np.float32)
    shared = Storage(whole)
    table = whole.reshape(6, 10)
    views = {
        "whole": (Tensor(shared, 0, (6, 10), (10, 1)), table),
        "transposed": (Tensor(shared, 0, (10, 6), (1, 10)), table.T),
        "part": (Tensor(shared, 12, (3, 4), (10, 2)), table[1:4, 2::2]),
        "last": (Tensor(shared, 59, (), ()), table[5, 9]),
        "nothing": (Tensor(shared, 60, (0, 10), (10, 1)), table[6:]),
        "line": (Parameter(Tensor(shared, 9, (1, 5, 1), (99, 10, 7))), table[None, :5, 9:]),
        "overlapping": (
            Tensor(shared, 1, (3, 3), (1, 1)),
            np.lib.stride_tricks.sliding_window_view(whole, 3)[1:4],
        ),
    }
    state = OrderedDict((name, tensor) for name, (tensor, _) in views.items())
    entries = entries_of(state)
    assert [name for name in entries if "/data/" in name] == ["archive/data/0"]
    found = torch_tensors(write_zip(tmp_path / "m.bin", entries))
    for name, (_, array) in views.items():
        read = found[name].array()
        np.testing.assert_array_equal(read, array)
        assert read.flags["C_CONTIGUOUS"]
        assert read.flags["OWNDATA"]


def test_reads_a_file_without_byteorder_and_with_other_entries(tmp_path: Path) -> None:
    """PyTorch before 2.1 wrote no byte order, and later ones write more than is read."""
    entries = entries_of(state_of({"a": np.ones(3, np.float32)}))
    del entries["archive/byteorder"]
    entries = {name.replace("archive", "a model, naïve"): one for name, one in entries.items()}
    others = ["a model, naïve/.data/serialization_id", "b/data/0", "../a/data/0", "a\x1b[2J"]
    entries |= dict.fromkeys(others, b"0")
    path = write_zip(tmp_path / "m.bin", entries)
    assert torch_tensors(path)["a"].array().tolist() == [1, 1, 1]


def changed(**changes: bytes | None) -> dict[str, bytes]:
    """The entries of a file with others, or without some."""
    entries = entries_of(state_of({"a": np.ones(6, np.float32)}))
    entries |= {f"archive/{name}": one for name, one in changes.items() if one is not None}
    return {name: one for name, one in entries.items() if changes.get(name[8:], b"") is not None}


@pytest.mark.parametrize(
    ("entries", "shown"),
    [
        (changed(byteorder=b"big"), "not little endian"),
        (changed(**{"data.pkl": None}), "not one data.pkl"),
        (changed(**{"data.pkl": b""}), "exhausted before seeing STOP"),
        (changed(**{"data/0": None}), "is no whole zip file .*no item named"),
        (changed(**{"data/0": b"1" * 23}), "has 23 bytes in data/0, expected 24: 6 numbers of F32"),
        (changed(**{"data/0": b"1" * 25}), "has 25 bytes in data/0, expected 24: 6 numbers of F32"),
        (changed() | {"b/data.pkl": b"}."}, "not one data.pkl"),
        (changed(**{"data.pkl": b"}" * (4 << 20) + b"."}), "has an entry or a list of 4194305 byt"),
    ],
)
def test_refuses_other_entries(entries: dict[str, bytes], shown: str, tmp_path: Path) -> None:
    """What PyTorch does not write so is not read."""
    path = write_zip(tmp_path / "m.bin", entries)
    with pytest.raises(InputError, match=rf"m\.bin: .*{shown}.*; .*get the weights as safet") as e:
        torch_tensors(path)
    assert str(e.value).isprintable()


def test_refuses_what_is_compressed(tmp_path: Path) -> None:
    """A few bytes could become gigabytes; nothing is unpacked to see."""
    entries = changed(**{"data/0": b"\0" * 50_000_000})
    path = write_zip(tmp_path / "m.bin", entries, compression=zipfile.ZIP_DEFLATED)
    assert path.stat().st_size < 100_000
    with pytest.raises(
        InputError, match=r"has the entry byteorder, expected entries that are not compress"
    ):
        torch_tensors(path)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_refuses_entries_that_are_there_twice(tmp_path: Path) -> None:
    """Which of them counts is not the same for every reader."""
    with zipfile.ZipFile(tmp_path / "m.bin", "w") as archive:
        for name, content in [*changed().items(), ("archive/data.pkl", b"}.")]:
            archive.writestr(name, content)
    with pytest.raises(InputError, match="has entries twice"):
        torch_tensors(tmp_path / "m.bin")


def patched(path: Path, at: int, value: bytes, entry: str = "archive/data/0") -> None:
    """Change bytes of an entry in the list at the file's end."""
    data = bytearray(path.read_bytes())
    found = data.rindex(entry.encode()) - 46
    data[found + at : found + at + len(value)] = value
    path.write_bytes(data)


@pytest.mark.parametrize(
    ("at", "value", "shown"),
    [
        (8, b"\1\0", "is no whole zip file"),  # encrypted
        (10, b"\x0c\0", "data/0, expected entries that are not compressed"),
        (20, struct.pack("<2L", 1 << 31, 1 << 31), "has 2147483648 bytes in data/0, expected 24"),
        (42, b"\xf0\xff\xff\x7f", "is no whole zip file"),
        (42, b"\1\0\0\0", "is no whole zip file"),
        (6, b"\xff\0", "is no whole zip file"),
        (0, b"PK\0\0", "is no whole zip file"),
    ],
)
def test_refuses_a_list_that_lies(at: int, value: bytes, shown: str, tmp_path: Path) -> None:
    """Sizes and places are those that the file has."""
    path = write_zip(tmp_path / "m.bin", changed())
    patched(path, at, value)
    with pytest.raises(InputError, match=shown):
        torch_tensors(path)


def test_refuses_a_list_of_any_length(tmp_path: Path) -> None:
    """A list of entries is not read into memory because the file says that it is so long."""
    path = write_zip(tmp_path / "m.bin", changed())
    data = bytearray(path.read_bytes())
    with path.open("r+b") as file:
        file.seek(len(data) - 22)
        file.write(b"\0" * 50_000_000 + data[-22:-10] + struct.pack("<LLH", 50_000_000, 60, 0))
    with pytest.raises(InputError, match="a list of 50000000 bytes, expected at most 4194304"):
        torch_tensors(path)


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        (
            b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.\x80\x02M\xe9\x03.",
            "a PyTorch before 1.6 wrote",
        ),
        (b"version https://git-lfs.github.com/spec/v1", "begins with b'version https:/', expect"),
        (b"cos\nsystem\n(S'true'\ntR.", "begins with b.cos.+, expected a zip file of PyTorch"),
        (b"", "begins with b'', expected a zip"),
        (b"PK", "begins with b'PK', expected a zip"),
        (b"PK\3\4" * 9, r"is no whole zip file \(File is not a zip file\)"),
    ],
)
def test_refuses_other_files(data: bytes, shown: str, tmp_path: Path) -> None:
    """Files of old PyTorch, pointers of Git LFS, bare pickles, and what was cut off."""
    (tmp_path / "m.bin").write_bytes(data)
    with pytest.raises(InputError, match=shown), nothing_runs():
        torch_tensors(tmp_path / "m.bin")


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    """The system's reason is in the message."""
    with pytest.raises(InputError, match="No such file"):
        torch_tensors(tmp_path / "m.bin")


@pytest.mark.parametrize("seed", weekly_but(1, range(4)))
def test_every_changed_file_is_refused_or_read(seed: int, tmp_path: Path) -> None:
    """Bytes changed, put in, left out and cut off: numbers of the file, or an error."""
    draw = random.Random(seed)  # noqa: S311 - no secrets
    path = write_torch(tmp_path / "m.bin", {"a": np.ones((2, 3), np.float32), "b": np.arange(4)})
    whole, read = path.read_bytes(), 0
    starts = [at for at in range(len(whole)) if whole[at : at + 2] == b"PK"]
    for _ in range(1200):
        data = bytearray(whole)
        for _ in range(draw.randint(1, 3)):
            at = draw.choice([draw.randrange(len(data)), draw.choice(starts) + draw.randrange(46)])
            at = min(at, len(data) - 1)
            match draw.randrange(4):
                case 0:
                    data[at] = draw.randrange(256)
                case 1:
                    data[at : at + 4] = draw.choice([b"\xff\xff\xff\xff", b"\0\0\0\0"])
                case 2:
                    data[at:at] = draw.randbytes(draw.randrange(9))
                case _:
                    del data[at : at + draw.choice([1, 8, 60])]
        path.write_bytes(data)
        try:
            found = torch_tensors(path)
        except InputError as error:
            message = str(error)
            assert message.isprintable()
            continue
        read += 1
        for tensor in found.values():
            assert tensor.array().nbytes <= len(data)
    assert read > 50
