"""Rust clients."""

from pydantic import JsonValue

from polybake.generation.languages.language import Language, Spelling, json_lines


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
    """JSON in a raw string literal, with as many marks around it as it takes, and no more."""
    text = json_lines(value, "    " * level)
    marks = "#"
    while f'"{marks}' in text:
        marks += "#"
    return f'r{marks}"{text}"{marks}'


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
