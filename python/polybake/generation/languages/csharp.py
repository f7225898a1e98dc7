"""C# clients."""

import json
import re
from xml.sax.saxutils import escape

from pydantic import JsonValue

from polybake.generation.languages.language import Language, Spelling, bracketed, pascal, quoted

#: The most characters of an array or an object within one line.
_WIDTH = 110


def csharp_string(text: str) -> str:
    """A C# string literal."""
    return quoted(text, wide="\\U{:08x}")


def csharp_literal(value: JsonValue, level: int) -> str:
    """JSON for a raw string literal in a class, a level deeper.

    No JSON has three quotation marks in a row, which would end the literal.
    """
    return _json(value, "    " * (level + 2))


def _json(value: JsonValue, space: str) -> str:
    """An array or an object that is too long for a line has a line for each part."""
    if not isinstance(value, dict | list) or not value:
        return json.dumps(value)
    inner = f"{space}  "
    if isinstance(value, dict):
        brackets = "{", "}"
        parts = [f"{json.dumps(key)}: {_json(value[key], inner)}" for key in value]
    else:
        brackets = "[", "]"
        parts = [_json(part, inner) for part in value]

    def fits(line: str) -> bool:
        return len(space) + len(line) <= _WIDTH

    return bracketed(brackets, parts, space, indent="  ", fits=fits)


def msbuild_text(text: str) -> str:
    """Encode text for a project file, where MSBuild expands ``$(x)``, ``@(x)`` and ``%41``.

    Characters that XML forbids are dropped.
    """
    xml = escape("".join(char for char in text if char.isprintable()))
    return re.sub(r"[$@%]", lambda found: f"%{ord(found[0]):02X}", xml)


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
    string=csharp_string,
    project_string=msbuild_text,
    literal=csharp_literal,
    null="null",
    true="true",
    false="false",
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
            ".editorconfig",
            "README.md",
            ".gitignore",
        }
    ),
)
