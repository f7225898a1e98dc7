"""C# clients."""

import re
from xml.sax.saxutils import escape

from pydantic import JsonValue

from polybake.generation.languages.language import Language, Spelling, json_lines, pascal, quoted


def csharp_string(text: str) -> str:
    """A C# string literal."""
    return quoted(text, wide="\\U{:08x}")


def csharp_literal(value: JsonValue, level: int) -> str:
    """JSON for a raw string literal in a class, a level deeper.

    No JSON has three quotation marks in a row, which would end the literal.
    """
    return json_lines(value, "    " * (level + 2), width=110)


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
