"""Encode text for where it will stand in generated files.

A model's names and prompts may come from anyone, so no string reaches a file unencoded.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from xml.sax.saxutils import escape


def _quoted(text: str, *, wide: str, also: str = "") -> str:
    """A double-quoted literal; quotes are escaped by number, so no formatter re-quotes it."""
    return '"' + "".join(_character(char, wide, also) for char in text) + '"'


def _character(char: str, wide: str, also: str) -> str:
    if char.isprintable() and char not in '"\\' + also:
        return char
    if char == "\\":
        return "\\\\"
    if char == "\n":
        return "\\n"
    return f"\\u{ord(char):04x}" if ord(char) <= 0xFFFF else wide.format(ord(char))


def python_string(text: str) -> str:
    """A Python string literal; a TOML basic string has the same form."""
    return _quoted(text, wide="\\U{:08x}")


def javascript_string(text: str) -> str:
    """A TypeScript string literal."""
    return _quoted(text, wide="\\u{{{:x}}}")


def ruby_string(text: str) -> str:
    """A Ruby string literal; ``#`` is escaped, since it may begin an interpolation."""
    return _quoted(text, wide="\\u{{{:x}}}", also="#")


def csharp_string(text: str) -> str:
    """A C# string literal."""
    return _quoted(text, wide="\\U{:08x}")


def json_string(text: str) -> str:
    """A JSON string."""
    return json.dumps(text, ensure_ascii=False)


def xml_text(text: str) -> str:
    """Character data of an XML element; characters that XML forbids are dropped."""
    return escape("".join(char for char in text if char.isprintable()))


Encoder = Callable[[str], str]
