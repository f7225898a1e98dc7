"""A machine that reads the pickle of a state dict: it imports nothing and calls nothing of others.

A pickle is a program. This machine has the operations that a state dict is written in, and the
names that it is given; any other operation or name ends the reading.

Source: Python's ``pickletools``.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pickletools import genops
from typing import Any

#: What ``torch.save`` writes.
_PROTOCOL = 2

#: Operations of a pickle: an encoder's has some 30 for each of its tensors.
_MOST = 300_000

#: Characters of a name. Longer ones would take a while, as a pickle repeats a name in two bytes.
_LONGEST = 1_000

#: Characters that a message shows of what stands in the file.
_SHOWN = 80

_CONSTANTS = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False}


@dataclass(frozen=True)
class Call:
    """What REDUCE does with a name.

    Attributes:
        make: Makes a value of the arguments; raises a `ValueError` if they are others than it
            knows.
    """

    make: Callable[[tuple[object, ...]], object]


class PickleMachine:
    """Python's pickle machine with the operations of protocol 2 that a state dict needs.

    What it holds is bounded by the number of operations: each adds one value at most, the memo is
    a mapping, whatever its numbers are, and nothing looks into a value by recursion.

    Args:
        names: What stands for each name that the pickle may import, by ``module name``.
        persistent: Makes a value of a persistent id; raises a `ValueError` as `Call.make` does.
    """

    def __init__(self, names: Mapping[str, object], persistent: Callable[[object], object]) -> None:
        self._names = names
        self._persistent = persistent
        self._stack: list[object] = []
        self._outer: list[list[object]] = []  # the stack below each mark
        self._memo: dict[int, object] = {}

    def run(self, data: bytes) -> object:
        """Return what the pickle describes; run one pickle only.

        Raises:
            ValueError: It is damaged, or has an operation or a name that is not known.
        """
        for count, (opcode, argument, place) in enumerate(genops(data)):
            if count == _MOST:
                raise ValueError(f"has more than {_MOST} operations")
            if opcode.name == "STOP":
                if place != len(data) - 1 or self._outer or len(self._stack) != 1:
                    raise ValueError("leaves something behind, expected one value")
                break
            self._do(opcode.name, argument)
        return self._stack[0]

    def _do(self, opcode: str, argument: Any) -> None:
        stack = self._stack
        match opcode:
            case "PROTO":
                if argument != _PROTOCOL:
                    raise ValueError(f"has protocol {argument}, expected {_PROTOCOL}")
            case "NONE" | "NEWTRUE" | "NEWFALSE":
                stack.append(_CONSTANTS[opcode])
            case "BINUNICODE" | "BININT" | "BININT1" | "BININT2" | "LONG1":
                stack.append(argument)
            case "BINPUT" | "LONG_BINPUT":
                self._memo[argument] = self._top()
            case "BINGET" | "LONG_BINGET":
                if argument not in self._memo:
                    raise ValueError(f"gets {argument} from a memo that has no such entry")
                stack.append(self._memo[argument])
            case "GLOBAL":
                stack.append(self._named(argument))
            case "BINPERSID":
                stack.append(self._persistent(self._pop()))
            case "REDUCE":
                arguments, called = self._pop(), self._pop()
                stack.append(_called(called, arguments))
            case "EMPTY_TUPLE" | "TUPLE1" | "TUPLE2" | "TUPLE3":
                size = 0 if opcode == "EMPTY_TUPLE" else int(opcode[-1])
                stack.append(tuple([self._pop() for _ in range(size)][::-1]))
            case "EMPTY_DICT":
                stack.append({})
            case "SETITEM":
                value, key = self._pop(), self._pop()
                _set(self._top(), [key, value])
            case "MARK":
                self._outer.append(stack)
                self._stack = []
            case "TUPLE":
                items = self._marked()
                self._stack.append(tuple(items))
            case "SETITEMS":
                items = self._marked()
                _set(self._top(), items)
            case "BUILD":
                state = self._pop()
                # Versions of modules. Source: torch.nn.Module.state_dict
                versions = isinstance(state, dict) and [*state] == ["_metadata"]
                if not versions or not isinstance(self._top(), OrderedDict):
                    raise ValueError("has a state (BUILD), expected _metadata of a state dict")
            case _:
                shown = f" ({shortened(argument)})" if isinstance(argument, str) else ""
                raise ValueError(f"has the operation {opcode}{shown}, which no state dict needs")

    def _named(self, name: str) -> object:
        if name not in self._names:
            found, *known = (one.replace(" ", ".") for one in (name, *self._names))
            raise ValueError(f"names {shortened(found)}, expected one of: {', '.join(known)}")
        return self._names[name]

    def _top(self) -> object:
        if not self._stack:
            raise ValueError("takes a value where there is none")
        return self._stack[-1]

    def _pop(self) -> object:
        top = self._top()
        self._stack.pop()
        return top

    def _marked(self) -> list[object]:
        """Return what lies above the last mark, and take it and the mark off."""
        if not self._outer:
            raise ValueError("ends what nothing began (MARK)")
        items, self._stack = self._stack, self._outer.pop()
        return items


def _called(called: object, arguments: object) -> object:
    if not isinstance(called, Call) or not isinstance(arguments, tuple):
        raise ValueError("calls what is no function (REDUCE)")
    return called.make(arguments)


def _set(target: object, items: list[object]) -> None:
    if not isinstance(target, dict) or len(items) % 2:
        raise ValueError("sets items of what is no dict")
    for key, value in zip(items[::2], items[1::2], strict=True):
        # Half of a surrogate pair, say, could stand in no message.
        if not isinstance(key, str) or len(key) > _LONGEST or not key.isprintable():
            raise ValueError(f"has the key {shortened(key)}, expected a name")
        if key in target:
            raise ValueError(f"has {shortened(key)} twice, expected one value")
        target[key] = value


def shortened(value: object) -> str:
    """Describe a value in a few characters: a text or numbers by themselves, others by type."""
    if isinstance(value, str):
        text = repr(value[:_SHOWN])
    elif isinstance(value, int | list):
        text = str(value)
    else:
        return f"of type {type(value).__name__}"
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
