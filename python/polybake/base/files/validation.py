"""What pydantic found wrong, in one line: the key, what was expected, and the value."""

import difflib
import re
from collections.abc import Iterable

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import ErrorDetails

from polybake.base.files.printable import printable

#: Characters of a value that are shown.
_LENGTH = 80

#: JSON's words for what Python calls otherwise.
_WORDS = {"None": "null", "True": "true", "False": "false"}

_MESSAGES = {"missing": "is missing", "extra_forbidden": "is not known"}


class JsonModel(BaseModel):
    """What a JSON file says; each value has its type there already, and is never converted."""

    model_config = ConfigDict(frozen=True, strict=True)


def first(error: ValidationError) -> ErrorDetails:
    """The fault to name: an unknown key before all else, as a misspelled one makes another miss."""
    return min(error.errors(), key=lambda fault: fault["type"] != "extra_forbidden")


def unknown_key(key: str, known: Iterable[str]) -> str:
    """Say that a key is not known, which there are, and which of these it is most like."""
    near = difflib.get_close_matches(key, list(known), n=1)
    meant = f" (did you mean {near[0]}?)" if near else ""
    return f"unknown key; choose one of: {', '.join(known) or 'none'}{meant}"


def first_fault(error: ValidationError) -> str:
    """``rope_scaling.factor: Input should be greater than 0, found -1.0``, of the first fault.

    A fault of the whole has no key, as an array has no short form: its message says what it is.
    """
    fault = error.errors()[0]
    place = key_path(fault["loc"])
    return f"{place}: {expected(fault)}" if place else expected(fault)


def expected(fault: ErrorDetails) -> str:
    """What was expected and what was found, without the key."""
    message = _MESSAGES.get(fault["type"], fault["msg"].removeprefix("Value error, "))
    message = re.sub(rf"\b({'|'.join(_WORDS)})\b", lambda word: _WORDS[word[0]], message)
    if fault["type"] == "missing" or not fault["loc"] or isinstance(fault["input"], np.ndarray):
        return message
    found = _WORDS.get(repr(fault["input"]), repr(fault["input"]))
    shown = found if len(found) <= _LENGTH else f"{found[:_LENGTH]}..."
    return f"{message}, found {shown}"


def key_path(location: tuple[int | str, ...]) -> str:
    """``("steps", 2, "mode")`` as ``steps[2].mode``."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in location)
    return printable(text.removeprefix("."))
