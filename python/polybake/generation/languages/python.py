"""Python clients."""

import keyword
import sys
import unicodedata

from pydantic import JsonValue

from polybake.generation.languages.language import Language, Spelling, bracketed, quoted, snake


def python_string(text: str) -> str:
    """A Python string literal; a TOML basic string has the same form."""
    return quoted(text, wide="\\U{:08x}")


#: Columns of a line. Source: the client's pyproject.toml, ``tool.ruff``.
_LINE = 100


#: Columns of the longest beginning of a line that assigns a value: ``DEFAULT_PROMPT: …] = ``.
_ASSIGNED = 48


def python_literal(value: JsonValue, level: int) -> str:
    """Write a value as ruff formats it: in one line where it fits, else with a line per part."""
    return _literal(value, level, before=0 if level else _ASSIGNED)


def _literal(value: JsonValue, level: int, before: int) -> str:
    """Write a value that starts ``before`` columns after its line's indentation."""
    if isinstance(value, str):
        return python_string(value)
    if not isinstance(value, list | dict) or not value:
        return repr(value)
    if isinstance(value, dict):
        brackets = "{", "}"
        items = [(f"{python_string(key)}: ", part) for key, part in value.items()]
    else:
        brackets = "[", "]"
        items = [("", part) for part in value]
    space = "    " * level
    parts = [key + _literal(part, level + 1, _columns(key)) for key, part in items]

    def fits(line: str) -> bool:
        return len(space) + before + _columns(line) < _LINE

    return bracketed(brackets, parts, space, indent="    ", fits=fits, comma=",")


def _columns(text: str) -> int:
    """Columns of a text, in which a wide character has two and a mark none."""
    return sum(
        0 if unicodedata.combining(char) else 1 + (unicodedata.east_asian_width(char) in "WF")
        for char in text
    )


PYTHON = Language(
    name="python",
    string=python_string,
    project_string=python_string,
    literal=python_literal,
    null="None",
    elements={dtype: dtype for dtype in ("float32", "int8", "uint8")},
    package=Spelling(str, r"[A-Za-z0-9]+([._-][A-Za-z0-9]+)*"),
    module=Spelling(snake, r"[a-z_][a-z0-9_]*"),
    reserved=frozenset({"hatchling", "numpy"})
    | sys.stdlib_module_names
    | {word.lower() for word in keyword.kwlist},
    project_files=frozenset({"pyproject.toml", "README.md", ".gitignore"}),
)
