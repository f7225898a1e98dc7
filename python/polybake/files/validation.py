"""What pydantic found wrong, in one line: the key, what was expected, and the value."""

from __future__ import annotations

import numpy as np
from pydantic import ValidationError
from pydantic_core import ErrorDetails

#: Characters of a value that are shown.
_LENGTH = 80


def first_fault(error: ValidationError) -> str:
    """``rope_scaling.factor: Input should be greater than 0, found -1.0``, of the first fault.

    A fault of the whole has no key, as an array has no short form: its message says what it is.
    """
    fault = error.errors()[0]
    place = key_path(fault["loc"])
    return f"{place}: {expected(fault)}" if place else expected(fault)


def expected(fault: ErrorDetails) -> str:
    """What was expected and what was found, without the key."""
    if fault["type"] == "missing":
        return "is missing"
    message = fault["msg"].removeprefix("Value error, ")
    if not fault["loc"] or isinstance(fault["input"], np.ndarray):
        return message
    found = repr(fault["input"])
    shown = found if len(found) <= _LENGTH else f"{found[:_LENGTH]}..."
    return f"{message}, found {shown}"


def key_path(location: tuple[int | str, ...]) -> str:
    """``("steps", 2, "mode")`` as ``steps[2].mode``."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in location)
    return text.removeprefix(".")
