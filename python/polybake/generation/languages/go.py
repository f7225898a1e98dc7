"""Go clients."""

import json

from pydantic import JsonValue

from polybake.generation.languages.language import Language, Spelling, bracketed, quoted

#: The most characters of an array or an object within one line.
_WIDTH = 100


def go_string(text: str) -> str:
    """A Go string literal; also of a go.mod file, and JSON wherever no escape is longer."""
    return quoted(text, wide="\\U{:08x}")


def go_literal(value: JsonValue, level: int) -> str:
    """JSON for a raw string literal, which a backquote alone would end."""
    return _json(value, "\t" * level).replace("`", "\\u0060")


def _json(value: JsonValue, space: str) -> str:
    """An array or an object that is too long for a line has a line for each part."""
    if not isinstance(value, dict | list) or not value:
        return json.dumps(value)
    if isinstance(value, dict):
        brackets = "{", "}"
        parts = [f"{json.dumps(key)}: {_json(value[key], space + '  ')}" for key in value]
    else:
        brackets = "[", "]"
        parts = [_json(part, space + "  ") for part in value]

    def fits(line: str) -> bool:
        return len(space) + len(line) <= _WIDTH

    return bracketed(brackets, parts, space, indent="  ", fits=fits)


def one_word(model: str) -> str:
    """``allminilml6v2``: a package's name has no hyphens and, by custom, no underscores."""
    return model.replace("-", "")


_PATH = r"[A-Za-z0-9][A-Za-z0-9._~-]*"

#: Go's keywords, predeclared names and packages, and what clients import.
RESERVED = """
all any append archive atomic base64 binary bits bool break bufio builtin byte bytes cap case chan
clear close cmd cmp comparable complex compress const context continue copy crypto database debug
default defer delete else embed encoding errors expvar fallthrough false filepath flag float32 fmt
for fs func go goto hash hex html if imag image import index init int int8 int64 interface internal
io iota iter json len log main make map maps math max mime min net new nil ort os package panic path
plugin print println range real recover reflect regexp return rune runtime select sha256 slices sort
std strconv strings struct structs switch sync syscall testing text time true type uint8 uint64
unicode unique unsafe utf8 var vendor wazero weak
"""

GO = Language(
    name="go",
    string=go_string,
    project_string=go_string,
    literal=go_literal,
    null='""',
    true="true",
    false="false",
    elements={"float32": "float32", "int8": "int8", "uint8": "uint8"},
    package=Spelling(str, rf"{_PATH}(/{_PATH})*"),
    module=Spelling(one_word, r"[a-z][a-z0-9]*"),
    reserved=frozenset(RESERVED.split()),
    project_files=frozenset({"go.mod", "go.sum", "README.md", ".gitignore"}),
    shares={"tokenizer.wasm": "wasm/tokenizer.wasm"},
)
