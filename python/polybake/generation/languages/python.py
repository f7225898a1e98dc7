"""Python clients."""

import keyword
import sys

from pydantic import JsonValue

from polybake.generation.languages.language import Language, Spelling, quoted, snake


def python_string(text: str) -> str:
    """A Python string literal; a TOML basic string has the same form."""
    return quoted(text, wide="\\U{:08x}")


def python_literal(value: JsonValue, level: int) -> str:
    """Write a value; lists and dicts have a line per part, kept by formatters for its comma."""
    if isinstance(value, str):
        return python_string(value)
    if not isinstance(value, list | dict) or not value:
        return repr(value)
    space = "    " * level
    if isinstance(value, dict):
        parts = [f"{python_string(key)}: {python_literal(value[key], level + 1)}" for key in value]
    else:
        parts = [python_literal(part, level + 1) for part in value]
    lines = "".join(f"{space}    {part},\n" for part in parts)
    begin, end = "{}" if isinstance(value, dict) else "[]"
    return f"{begin}\n{lines}{space}{end}"


PYTHON = Language(
    name="python",
    string=python_string,
    project_string=python_string,
    literal=python_literal,
    null="None",
    true="True",
    false="False",
    elements={dtype: dtype for dtype in ("float32", "int8", "uint8")},
    package=Spelling(str, r"[A-Za-z0-9]+([._-][A-Za-z0-9]+)*"),
    module=Spelling(snake, r"[a-z_][a-z0-9_]*"),
    reserved=frozenset({"hatchling", "numpy"})
    | sys.stdlib_module_names
    | {word.lower() for word in keyword.kwlist},
    project_files=frozenset({"pyproject.toml", "README.md", ".gitignore"}),
)
