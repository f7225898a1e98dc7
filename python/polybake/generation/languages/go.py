"""Go clients."""

from pydantic import JsonValue

from polybake.generation.languages.language import Language, Spelling, joined, json_lines, quoted


def go_string(text: str) -> str:
    """A Go string literal; also of a go.mod file, and JSON wherever no escape is longer."""
    return quoted(text, wide="\\U{:08x}")


def go_literal(value: JsonValue, level: int) -> str:
    """JSON for a raw string literal, which a backquote alone would end."""
    return json_lines(value, "\t" * level).replace("`", "\\u0060")


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
    elements={"float32": "float32", "int8": "int8", "uint8": "uint8"},
    package=Spelling(str, rf"{_PATH}(/{_PATH})*"),
    module=Spelling(joined, r"[a-z][a-z0-9]*"),
    reserved=frozenset(RESERVED.split()),
    project_files=frozenset({"go.mod", "go.sum", "README.md", ".gitignore"}),
    shares={"tokenizer.wasm": "wasm/tokenizer.wasm"},
)
