"""Rust clients."""

from collections.abc import Iterable
from operator import itemgetter
from typing import Any

from pydantic import JsonValue

from polybake.generation.languages.language import Language, Spelling


def rust_string(text: str) -> str:
    """A Rust string literal."""
    return _quoted(text, "\\u{{{:x}}}", "\\u{{{:x}}}")


def toml_string(text: str) -> str:
    """A basic string of TOML, for Cargo.toml."""
    return _quoted(text, "\\u{:04x}", "\\U{:08x}")


def _quoted(text: str, escape: str, wide: str) -> str:
    def character(char: str) -> str:
        if char.isprintable() and char not in '"\\':
            return char
        return (escape if ord(char) <= 0xFFFF else wide).format(ord(char))

    return f'"{"".join(map(character, text))}"'


def rust_literal(value: JsonValue, level: int) -> str:
    """A constant, whose parts are a line each; clients keep rustfmt from it.

    A list is a slice, a map of texts or of numbers one of pairs. The pieces of a pair, a task's
    settings and a label's mark are values of the client's own types; of a pair itself there is only
    what stands around its texts.
    """
    if isinstance(value, str):
        return rust_string(value)
    if isinstance(value, list) and all(isinstance(v, dict) and "type_id" in v for v in value):
        return f"&[{', '.join(map(_piece, value))}]"
    if isinstance(value, list):
        return _lines("&[", (rust_literal(part, level + 1) for part in value), "]", level)
    if not isinstance(value, dict):
        return "None" if value is None else str(value).lower()
    if isinstance(pieces := value.get("pieces"), list):
        return _around(pieces)
    if isinstance(value.get("begins"), bool):
        return f"Mark {{ {', '.join(_fields(value))} }}"
    if isinstance(value.get("labels"), list) or {str, int} <= {*map(type, value.values())}:
        known = {key: value[key] for key in _SETTINGS if key in value}
        return _lines("Settings {", _fields(known, level + 1), "}", level)
    pairs = (f"({rust_string(key)}, {rust_literal(part, 0)})" for key, part in value.items())
    return _lines("&[", pairs, "]", level)


#: What a client reads of a task's settings.
_SETTINGS = ("labels", "marks", "words", "room")


def _fields(fields: dict[str, JsonValue], level: int = 0) -> list[str]:
    return [f"{key}: {rust_literal(value, level)}" for key, value in fields.items()]


def _piece(piece: Any) -> str:
    """A special token or a text, and the type of its tokens."""
    special = piece["text"] is None
    kind = f"Special({piece['id']})" if special else f"Text({piece['text']})"
    return f"(Piece::{kind}, {piece['type_id']})"


def _around(pieces: list[Any]) -> str:
    """What stands before each text and behind it, and how many of its tokens are kept."""
    texts = sorted((piece for piece in pieces if piece["text"] is not None), key=itemgetter("text"))
    around = (
        f"({rust_string(piece.get('before', ''))}, {rust_string(piece.get('after', ''))}, "
        f"{piece.get('limit') or 'usize::MAX'})"
        for piece in texts
    )
    return f"[{', '.join(around)}]"


def _lines(begin: str, parts: Iterable[str], end: str, level: int) -> str:
    """A line for each part, or one line where there is none."""
    space = "    " * level
    lines = "".join(f"{space}    {part},\n" for part in parts)
    return f"{begin}\n{lines}{space}{end}" if lines else f"{begin}{end}"


#: Keywords, also those that Rust keeps for later, and crates that a client takes.
RESERVED = """
abstract alloc as async await base64 become box break const continue crate core do dyn else enum
extern false final fn for gen if impl in let loop macro match mod move mut ort override priv
procmacro pub ref return self serde serdejson sha2 static std struct super thiserror tokenizers
trait true try type typeof unsafe unsized use virtual where while yield
"""

#: The compiler makes underscores of hyphens.
NAME = Spelling(str, r"[a-z][a-z0-9]*([_-][a-z0-9]+)*")

RUST = Language(
    name="rust",
    programs=("cargo",),
    string=rust_string,
    project_string=toml_string,
    literal=rust_literal,
    null="None",
    elements={"float32": "f32", "int8": "i8", "uint8": "u8"},
    package=NAME,
    module=Spelling(lambda model: model.replace("-", "_"), r"[a-z][a-z0-9]*(_[a-z0-9]+)*"),
    reserved=frozenset(RESERVED.split()),
    project_files=frozenset({"Cargo.toml", "README.md", ".gitignore"}),
)
