"""C# clients."""

import json
import re
from xml.sax.saxutils import escape

from pydantic import JsonValue

from polybake.generation.languages.language import Language, Spelling, pascal, quoted


def csharp_string(text: str) -> str:
    """A C# string literal."""
    return quoted(text, wide="\\U{:08x}")


def csharp_literal(value: JsonValue, level: int) -> str:
    """Return a JsonNode, or a value that converts to one, for use in a class, a level deeper."""
    space = "    " * (level + 1)
    if isinstance(value, dict) and value:
        fields = "".join(
            f"{space}    [{csharp_string(key)}] = {csharp_literal(value[key], level + 1)},\n"
            for key in value
        )
        return f"new JsonObject\n{space}{{\n{fields}{space}}}"
    if isinstance(value, list) and value:
        parts = (f"\n{space}    {csharp_literal(part, level + 1)}" for part in value)
        return f"new JsonArray({','.join(parts)})"
    if isinstance(value, dict | list):
        return "new JsonObject()" if isinstance(value, dict) else "new JsonArray()"
    if isinstance(value, str):
        return csharp_string(value)
    if isinstance(value, float):  # .NET would write 1.0 as 1, and the contract's numbers are text
        return f'JsonNode.Parse("{json.dumps(value)}")'
    return "(JsonNode?)null" if value is None else json.dumps(value)


def msbuild_text(text: str) -> str:
    """Encode text for a project file, where MSBuild expands ``$(x)``, ``@(x)`` and ``%41``.

    Characters that XML forbids are dropped.
    """
    xml = escape("".join(char for char in text if char.isprintable()))
    return re.sub(r"[$@%]", lambda found: f"%{ord(found[0]):02X}", xml)


NAME = Spelling(pascal, r"[A-Za-z][A-Za-z0-9]*(\.[A-Za-z][A-Za-z0-9]*)*")

RESERVED = """
action array attribute buffer class console convert core data delegate encoding enumerable
environment exception fact file func guid half hash index lazy math memory microsoft net nullable
object parallel path process progress random range set socket span stream string system task thread
timer tuple type uri version windows xunit
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
            "src/Task.props",
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
