"""C# clients."""

import json
import re
from xml.sax.saxutils import escape

from pydantic import JsonValue

from polybake.generation.languages.language import (
    Language,
    Spelling,
    bracketed,
    pascal,
    pascal_method,
    quoted,
)


def csharp_string(text: str) -> str:
    """A C# string literal."""
    return quoted(text, wide="\\U{:08x}")


#: Columns of a line whose parts get lines of their own where they need more.
_LINE = 120


def csharp_literal(value: JsonValue, level: int) -> str:
    """Write a C# expression for a value; the field that it initializes gives its type.

    A mapping to strings alone, or to integers alone, becomes a dictionary in one line; any other
    mapping becomes a record.
    """
    if isinstance(value, str):
        return csharp_string(value)
    if not isinstance(value, list | dict):
        return json.dumps(value)
    if not value:
        return "[]"
    if isinstance(value, list):
        return _bracketed("[", "]", [csharp_literal(part, level + 1) for part in value], level)
    parts = {key: csharp_literal(part, level + 1) for key, part in value.items()}
    if {type(part) for part in value.values()} in ({str}, {int}):
        items = (f"[{csharp_string(key)}] = {part}" for key, part in parts.items())
        return f"new() {{ {', '.join(items)} }}"
    named = [f"{pascal(key.replace('_', '-'))}: {part}" for key, part in parts.items()]
    return _bracketed("new(", ")", named, level)


def _bracketed(begin: str, end: str, parts: list[str], level: int) -> str:
    space = "    " * (level + 1)

    def fits(line: str) -> bool:
        return len(space) + len(line) <= _LINE

    return bracketed((begin, end), parts, space, indent="    ", fits=fits)


def msbuild_text(text: str) -> str:
    """Encode text for a project file, where MSBuild expands ``$(x)``, ``@(x)`` and ``%41``.

    Characters that XML forbids are dropped.
    """
    xml = escape("".join(char for char in text if char.isprintable()))
    return re.sub(r"[$@%]", lambda match: f"%{ord(match[0]):02X}", xml)


NAME = Spelling(pascal, r"[A-Za-z][A-Za-z0-9]*(\.[A-Za-z][A-Za-z0-9]*)*")

#: Also the classes of clients: a namespace would hide one of its own name from its users.
RESERVED = """
action aggregation answer answerer array attribute buffer bulk class console convert core cuda data
delegate device encoding enumerable environment exception fact file func guid half hash index lazy
math memory microsoft net nullable object openmodel pairmodel parallel path process progress random
range set socket span stream string system tagger task thread timer tuple type uri version windows
xunit
"""

CSHARP = Language(
    name="csharp",
    programs=("dotnet",),
    method=pascal_method,
    string=csharp_string,
    project_string=msbuild_text,
    literal=csharp_literal,
    null="null",
    elements={"float32": "float", "int8": "sbyte", "uint8": "byte"},
    package=NAME,
    module=NAME,
    reserved=frozenset(RESERVED.split()),
    project_files=frozenset(
        {
            "src/__module__.csproj",
            "tests/__module__.Tests.csproj",
            "harness/__module__.Harness.csproj",
            "__module__.slnx",
            "Directory.Build.props",
            "Directory.Build.targets",
            ".editorconfig",
            "README.md",
            ".gitignore",
        }
    ),
)
