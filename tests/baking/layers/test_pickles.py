"""What runs code when Python unpickles it, and what fills a memory, is refused by this reader."""

from __future__ import annotations

import io
import os
import pickle
import pickletools
import struct
import time
import tracemalloc
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

from polybake.baking.layers import torch_file
from polybake.baking.layers.torch_file import run_pickle
from support.processes.watched import nothing_runs

TRAP = b"csupport.processes.watched\nTrap\n"
MKDIR = b"cos\nmkdir\n"

KNOWN = {
    *("PROTO", "STOP", "NONE", "NEWTRUE", "NEWFALSE", "BINUNICODE", "MARK", "GLOBAL"),
    *("BININT", "BININT1", "BININT2", "LONG1", "BINPUT", "LONG_BINPUT", "BINGET"),
    *("LONG_BINGET", "BINPERSID", "REDUCE", "BUILD", "SETITEM", "SETITEMS"),
    *("EMPTY_TUPLE", "TUPLE", "TUPLE1", "TUPLE2", "TUPLE3", "EMPTY_DICT"),
}


def text(value: str, opcode: bytes = b"X") -> bytes:
    return opcode + struct.pack("<I", len(value)) + value.encode()


def line(value: str) -> bytes:
    return b"V" + value.encode() + b"\n"


def nested(place: str) -> bytes:
    inner = b"\x80\x02" + MKDIR + text(place) + b"\x85R."
    return b"\x80\x03cpickle\nloads\nB" + struct.pack("<I", len(inner)) + inner + b"\x85R."


def chained(place: str) -> bytes:
    module = b"cbuiltins\n__import__\n(Vos\ntR"
    return b"cbuiltins\ngetattr\n(" + module + b"Vmkdir\ntR(" + line(place) + b"tR."


#: By protocol and operation: a pickle that makes a folder when it is unpickled, and what of it is
#: refused. `test_operations` has the operations that are.
TRAPS: dict[str, tuple[Callable[[str], bytes], str]] = {
    "0 GLOBAL": (lambda place: MKDIR + b"(" + line(place) + b"tR.", "'os.mkdir'"),
    "0 BUILD": (lambda place: TRAP + b"(tR" + line(place) + b"b.", "watched.Trap'"),
    "0 getattr": (chained, "'builtins.getattr'"),
    "1 OBJ": (lambda place: b"(" + MKDIR + text(place) + b"o.", "'os.mkdir'"),
    "1 BINPERSID": (lambda place: text(place) + b"Q.", "no storage's"),
    "2 REDUCE": (lambda place: b"\x80\x02" + MKDIR + text(place) + b"\x85R.", "'os.mkdir'"),
    "2 NEWOBJ": (lambda place: b"\x80\x02" + TRAP + text(place) + b"\x85\x81.", "Trap'"),
    "3 nested": (nested, "protocol 3"),
    "3 nested, as 2": (lambda place: nested(place).replace(b"\x80\x03", b""), "'pickle.loads'"),
    "4 STACK_GLOBAL": (
        lambda place: b"\x80\x04" + text("os") + text("mkdir") + b"\x93" + text(place) + b"\x85R.",
        "protocol 4",
    ),
    "4 NEWOBJ_EX": (lambda place: TRAP + text(place) + b"\x85}\x92.", "Trap'"),
}


def unpickle(data: bytes) -> object:
    """Do what a victim does."""
    unpickler = pickle.Unpickler(io.BytesIO(data))  # noqa: S301 - made here
    unpickler.persistent_load = os.mkdir
    return unpickler.load()


def run(data: bytes) -> object:
    with nothing_runs():
        return run_pickle(data)


@pytest.mark.parametrize("trap", TRAPS)
def test_a_trap_runs_nothing(trap: str, tmp_path: Path) -> None:
    """Each runs when Python unpickles it, and is refused here by what it would run it with."""
    make, shown = TRAPS[trap]
    place = tmp_path / "ran"
    data = make(str(place))
    with pytest.raises(ValueError, match=shown):
        run(data)
    assert not place.exists()
    unpickle(data)
    assert place.exists()


@pytest.mark.parametrize("opcode", pickletools.opcodes, ids=lambda opcode: opcode.name)
def test_operations(opcode: pickletools.OpcodeInfo) -> None:
    """Those of a state dict are known, and all others refused by name."""
    arguments = {
        None: b"",
        "stringnl": b"''\n",
        "stringnl_noescape_pair": b"a\nb\n",
        **dict.fromkeys(("uint1", "string1", "bytes1", "long1", "unicodestring1"), b"\2\1\1"),
        **dict.fromkeys(("string4", "bytes4", "long4", "unicodestring4"), b"\2\0\0\0\1\1"),
        **dict.fromkeys(("bytes8", "bytearray8", "unicodestring8"), b"\2" + b"\0" * 7 + b"\1\1"),
    }
    name = opcode.arg and opcode.arg.name
    argument = arguments.get(name, b"0\n" + b"\0" * 6)
    with pytest.raises((ValueError, IndexError, KeyError)) as caught:  # if nowhere else, it ends
        run(opcode.code.encode("latin-1") + argument)
    assert f"has the operation {opcode.name}" in str(caught.value) or opcode.name in KNOWN
    assert "has the operation" not in str(caught.value) or opcode.name not in KNOWN


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        (b"", "exhausted before seeing STOP"),
        (b"\xff", "opcode b'.xff' unknown"),
        (b".", "leaves something behind"),
        (b"}.}", "leaves something behind"),
        (b"R.", "pop from empty list"),
        (b"t.", "pop from empty list"),
        (b"h\7.", "7"),
        (b"})R.", "calls no function"),
        (
            b"ccollections\nOrderedDict\n}R.",
            r"calls OrderedDict \(REDUCE\) with other",
        ),
        (b"ccollections\nOrderedDict\n)b.", "has a state"),
        (b"}}b.", "has a state"),
        (b"}}" + text("_metadata") + b")sb.", "has a state"),
        (b"}})\x86b.", "has a state"),
        (b")" + text("a") + b")s.", "sets items of what is no dict"),
        (b"}(" + text("a") + b"u.", "sets items of what is no dict"),
        (b"}K\1)s.", "has the key 1, expected a name"),
        (b"}" + text("a\n\x1b[0m") + b")s.", r"has the key 'a\\n\\x1b\[0m', expected"),
        (b"}X\3\0\0\0\xed\xa0\x80)s.", "has the key '.ud800', expected a name"),
        (b"}" + text("a" * 1001) + b")s.", "has the key 'a{79}…, expected a name"),
        (b"}" + text("a") + b")s" + text("a") + b")s.", "has the key 'a', .* each once"),
        (b"cos\nsystem" + b"m" * 99 + b"\n.", "names 'os.systemm{70}…, expected one of: coll"),
        (b"(cos\nsystem\n", "names 'os.system'"),
        (b"\x80\5}.", "has protocol 5, expected 2"),
    ],
)
def test_refuses_what_no_pickler_writes(data: bytes, shown: str) -> None:
    """A program that is damaged, or makes something other than it says."""
    with pytest.raises((ValueError, IndexError, KeyError), match=shown):
        run(data)


def test_a_wrong_escape_is_no_other_error() -> None:
    """Python reads names with escapes, and warns of those that it does not know."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises((ValueError, DeprecationWarning)):
            run_pickle(b"cos\\z\nsystem\n.")


def test_what_it_reads() -> None:
    """Constants, numbers, texts, tuples, dicts, the memo, and calls."""
    numbers = b"(K\1M\1\1J\xff\xff\xff\xff\x8a\5\0\0\0\0\1t"
    assert run(b"\x80\2" + numbers + b".") == (1, 257, -1, 1 << 32)
    assert run(b"N\x88\x89\x87.") == (None, True, False)
    ordered = b"ccollections\nOrderedDict\nq\0)Rr\1\0\0\0"
    items = b"(" + text("a") + b")" + text("b") + b"h\0u"
    assert run(ordered + items + b"j\1\0\0\0\x86.")[1].keys() == {"a", "b"}
    assert run(ordered + b"}" + text("_metadata") + b"}sb.") == {}
    data = pickle.dumps({"a": (1, None, True, "b", -5, 1 << 60), "c": {"d": ()}}, protocol=2)
    assert run(data) == pickle.loads(data)  # noqa: S301 - made here


#: Small programs that make much of little.
BOMBS = {
    "memo": b"}r\xff\xff\xff\xff0",
    "doubling": b")" + b"q\0h\0h\0\x86" * 2000 + b".",
    "deep tuple": b")" + b"\x85" * 29_900 + b".",
    "deep dict": b"}" + b"X\1\0\0\0a}" * 9_000 + b"s" * 9_000 + b".",
    "deep marks": b"(" * 29_900 + b".",
    "stack": b"}" * 29_900 + b".",
    "long": b"}" * 2_000_000 + b".",
    "cycle": b"}q\0" + text("a") + b"h\0s" + b"h\0" * 1000 + b".",
    "long number": b"\x8b" + struct.pack("<i", 3_000_000) + b"\x7f" * 3_000_000 + b".",
    "digits": b"L" + b"9" * 3_000_000 + b"L\n.",
    "text of any size": b"\x8d" + b"\xff" * 8 + b".",
    "frame of any size": b"\x95" + b"\xff" * 8 + b".",
    "long key": text("a" * 3_000_000) + b"q\0" + b"}h\0)s" * 100_000 + b".",
    "long id": text("1" * 3_000_000) + b"q\0" + b"h\0Q" * 100_000 + b".",
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_bombs(bomb: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each ends soon and with little memory, in a value or an error."""
    monkeypatch.setattr(torch_file, "_MOST", 30_000)
    data, began = BOMBS[bomb], time.process_time()
    tracemalloc.start()
    try:
        run(data)
    except (ValueError, IndexError):
        pass
    finally:
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert most < 12e6
    assert time.process_time() - began < 10
