"""Java clients."""

import json
from xml.sax.saxutils import escape

from pydantic import JsonValue

from polybake.generation.languages.language import Language, Spelling, camel_method, joined

_ESCAPES = {"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def java_string(text: str) -> str:
    r"""A Java string literal.

    The compiler reads ``\u000a`` as a line break in the source before it reads the literal, so
    characters below U+0100 are escaped in octal, and quotation marks among them.
    """
    return f'"{"".join(map(_character, text))}"'


def _character(char: str) -> str:
    if char in _ESCAPES:
        return _ESCAPES[char]
    if char.isprintable() and char != '"':
        return char
    if ord(char) < 0x100:
        return f"\\{ord(char):03o}"
    units = char.encode("utf-16-be")
    return "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2))


def java_literal(value: JsonValue, _level: int) -> str:
    """An expression; what is long or nested, a client reads from its model file."""
    if isinstance(value, str):
        return java_string(value)
    if isinstance(value, list):
        return f"List.of({', '.join(java_literal(part, 0) for part in value)})"
    return json.dumps(value)


def maven_text(text: str) -> str:
    """Encode text for a pom.xml, where Maven expands ``${x}``.

    Characters that XML forbids are dropped.
    """
    printable = "".join(char for char in text if char.isprintable())
    return escape(printable.replace("${", "$ {"))


RESERVED = """
abstract assert boolean break byte case catch char class const continue default do double else enum
extends false final finally float for goto if implements import instanceof int interface java javax
long native new null package private protected public return short static strictfp super switch
synchronized this throw throws transient true try void volatile while
"""

JAVA = Language(
    name="java",
    programs=("java", "javac", "mvn"),
    method=camel_method,
    string=java_string,
    project_string=maven_text,
    literal=java_literal,
    null="null",
    elements={"float32": "float", "int8": "byte", "uint8": "byte"},
    package=Spelling(str, r"[a-z][a-z0-9]*([.-][a-z0-9]+)*"),
    module=Spelling(joined, r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*"),
    reserved=frozenset(RESERVED.split()),
    project_files=frozenset({"pom.xml", "README.md", ".gitignore"}),
    path=lambda _package, module: module.replace(".", "/"),
)
