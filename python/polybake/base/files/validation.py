"""Describe pydantic's errors in one line: the key, what was expected, and the value."""

import difflib
import re
from collections.abc import Iterable

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import ErrorDetails

from polybake.base.files.printable import printable

#: The most characters that are shown of a value.
_LENGTH = 80

#: JSON's words for Python's.
_WORDS = {"None": "null", "True": "true", "False": "false"}

_MESSAGES = {"missing": "is missing", "extra_forbidden": "is not known"}


class JsonModel(BaseModel):
    """The content of a JSON file; values must have the right type and are never converted."""

    model_config = ConfigDict(frozen=True, strict=True)


def first(error: ValidationError) -> ErrorDetails:
    """Return the fault to name: an unknown key first, as a misspelled key makes another miss."""
    return min(error.errors(), key=lambda fault: fault["type"] != "extra_forbidden")


def unknown_key(key: str, known: Iterable[str]) -> str:
    """Return a message for an unknown key, with the known keys and the most similar of them."""
    return f"unknown key; {choices(key, known)}"


def choices(word: str, known: Iterable[str]) -> str:
    """Return the words to choose one of, and the one that is most similar to an unknown word."""
    words = [*known]
    near = difflib.get_close_matches(word, words, n=1)
    hint = f" (did you mean {near[0]}?)" if near else ""
    return f"choose one of: {', '.join(words) or 'none'}{hint}"


def first_fault(error: ValidationError) -> str:
    """Describe the first fault: ``rope_scaling.factor: Input should be greater than 0, found -1``.

    A fault of the whole document has no key; its message alone describes it.
    """
    fault = error.errors()[0]
    path = key_path(fault["loc"])
    return f"{path}: {expected(fault)}" if path else expected(fault)


def expected(fault: ErrorDetails) -> str:
    """Describe what was expected and what was found, without the key."""
    message = _MESSAGES.get(fault["type"], fault["msg"].removeprefix("Value error, "))
    message = re.sub(rf"\b({'|'.join(_WORDS)})\b", lambda word: _WORDS[word[0]], message)
    if fault["type"] == "missing" or not fault["loc"] or isinstance(fault["input"], np.ndarray):
        return message
    value = _WORDS.get(repr(fault["input"]), repr(fault["input"]))
    if fault["type"] == "value_error" and value in message:
        return message  # which says itself what was found
    excerpt = value if len(value) <= _LENGTH else f"{value[:_LENGTH]}..."
    return f"{message}, found {excerpt}"


def key_path(location: tuple[int | str, ...]) -> str:
    """``("steps", 2, "mode")`` as ``steps[2].mode``."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in location)
    return printable(text.removeprefix("."))
