"""Python clients."""

import keyword
import sys

from polybake.generation.languages.language import Language, Spelling, quoted, snake


def python_string(text: str) -> str:
    """A Python string literal; a TOML basic string has the same form."""
    return quoted(text, wide="\\U{:08x}")


PYTHON = Language(
    name="python",
    string=python_string,
    project_string=python_string,
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
