"""Rust clients."""

from collections.abc import Iterable

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

    A list is a slice, a map of texts or of numbers one of pairs. A piece of a pair, a label's mark,
    and what holds them are values of the client's own types.
    """
    match value:
        case None:
            return "None"
        case str():
            return rust_string(value)
        case {"id": None} | {"text": None}:
            fields = {"before": "", "after": "", **value}
            some = {key: _some(value.get(key)) for key in ("id", "text", "limit")}
            return _value("Piece", {**_literals(fields), **some})
        case {"begins": bool()}:
            return _value("Mark", _literals(value))
        case {"pieces": list()}:
            return _value("Pair", _literals(value, level), level)
        case {"labels": list()} | {"words": str(), "room": int()}:
            known = {key: value[key] for key in _SETTINGS if key in value}
            return _value("Settings", _literals(known, level), level)
        case dict():
            pairs = (f"({rust_string(key)}, {rust_literal(one, 0)})" for key, one in value.items())
            return _lines("&[", pairs, "]", level)
        case list():
            return _lines("&[", (rust_literal(one, level + 1) for one in value), "]", level)
    return str(value).lower()


#: What a client reads of a task's settings.
_SETTINGS = ("labels", "marks", "words", "room")


def _some(value: JsonValue) -> str:
    return "None" if value is None else f"Some({value})"


def _literals(fields: dict[str, JsonValue], level: int = 0) -> dict[str, str]:
    return {key: rust_literal(value, level + 1) for key, value in fields.items()}


def _value(name: str, fields: dict[str, str], level: int | None = None) -> str:
    parts = [f"{key}: {literal}" for key, literal in fields.items()]
    if level is None:
        return f"{name} {{ {', '.join(parts)} }}"
    return _lines(f"{name} {{", parts, "}", level)


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
