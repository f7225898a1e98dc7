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

    A list is a slice, a map of texts or of numbers one of pairs. How texts are paired, a task's
    settings and a label's mark are values of the client's own types.
    """
    match value:
        case None:
            return "None"
        case str():
            return rust_string(value)
        case {"begins": bool()}:
            return f"Mark {{ {', '.join(_fields(value))} }}"
        case {"pieces": list(pieces)}:
            rest = {key: part for key, part in value.items() if key != "pieces"}
            parts = [f"pieces: &[{', '.join(map(_piece, pieces))}]", _texts(pieces), *_fields(rest)]
            return _lines("Pair {", parts, "}", level)
        case {"labels": list()} | {"words": str(), "room": int()}:
            known = {key: value[key] for key in _SETTINGS if key in value}
            return _lines("Settings {", _fields(known, level + 1), "}", level)
        case dict():
            pairs = (f"({rust_string(key)}, {rust_literal(one, 0)})" for key, one in value.items())
            return _lines("&[", pairs, "]", level)
        case list():
            return _lines("&[", (rust_literal(one, level + 1) for one in value), "]", level)
    return str(value).lower()


#: What a client reads of a task's settings.
_SETTINGS = ("labels", "marks", "words", "room")


def _fields(fields: dict[str, JsonValue], level: int = 0) -> list[str]:
    return [f"{key}: {rust_literal(value, level)}" for key, value in fields.items()]


def _piece(piece: Any) -> str:
    """A special token, or the first or second text, and the type of its tokens."""
    special = piece["text"] is None
    named = f"Special({piece['id']})" if special else f"Text({piece['text']})"
    return f"(Piece::{named}, {piece['type_id']})"


def _texts(pieces: list[Any]) -> str:
    """Of each text, what stands around it, and how many of its tokens are kept."""
    texts = sorted((one for one in pieces if one["text"] is not None), key=itemgetter("text"))
    return "texts: [{}]".format(
        ", ".join(
            f"({rust_string(one.get('before', ''))}, {rust_string(one.get('after', ''))}, "
            f"{one.get('limit') or 'usize::MAX'})"
            for one in texts
        )
    )


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
