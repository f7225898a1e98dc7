"""Go clients."""

import json
from collections.abc import Mapping, Sequence
from itertools import groupby

from pydantic import JsonValue

from polybake.generation.languages.language import (
    Language,
    Spelling,
    bracketed,
    joined,
    pascal_method,
    quoted,
)


def go_string(text: str) -> str:
    """A Go string literal; also of a go.mod file."""
    return quoted(text, wide="\\U{:08x}")


def go_literal(value: JsonValue, level: int) -> str:
    """The braces of a composite literal, whose type a template writes before them.

    Values by a name of the model's, such as prompts, stay in one line. Records become structs;
    those of a list, as of ``pieces``, are of the type ``piece``.
    """
    if isinstance(value, dict):
        of_records = any(isinstance(part, list | dict) for part in value.values())
        return _struct(value, level) if of_records else _map(value)
    return _list(value, level) if isinstance(value, list) else _scalar(value)


#: Columns of a line whose parts get lines of their own where they need more.
_LINE = 100


def _scalar(value: JsonValue) -> str:
    """What is not there is -1, as only numbers from 0 on may be missing."""
    if isinstance(value, str):
        return go_string(value)
    return "-1" if value is None else json.dumps(value)


def _map(value: Mapping[str, JsonValue]) -> str:
    return f"{{{', '.join(f'{go_string(key)}: {_scalar(part)}' for key, part in value.items())}}}"


def _list(value: Sequence[JsonValue], level: int) -> str:
    parts = [_fields(part) if isinstance(part, dict) else _scalar(part) for part in value]
    return bracketed(
        ("{", "}"),
        parts,
        "\t" * level,
        indent="\t",
        fits=lambda line: len(line) < _LINE,
        comma=",",
    )


def _fields(value: Mapping[str, JsonValue]) -> str:
    return f"{{{', '.join(f'{_field(key)}: {_scalar(part)}' for key, part in value.items())}}}"


def _field(key: str) -> str:
    """``type_id`` is ``TypeID``."""
    return "".join("ID" if part == "id" else part.capitalize() for part in key.split("_"))


def _struct(value: Mapping[str, JsonValue], level: int) -> str:
    """A line for each field, with values below each other as gofmt puts them."""
    fields = [(_field(key), _typed(key, part, level + 1)) for key, part in value.items()]
    lines: list[str] = []
    for several, run in groupby(fields, key=lambda field: "\n" in field[1]):
        group = list(run)
        width = 0 if several else max(len(name) for name, _ in group) + 1
        lines += [f"{f'{name}:':{width}} {part}," for name, part in group]
    space = "\t" * level
    return "".join(["{\n", *(f"{space}\t{line}\n" for line in lines), f"{space}}}"])


def _typed(key: str, value: JsonValue, level: int) -> str:
    if not isinstance(value, list):
        return _scalar(value)
    types = {str: "string", int: "int", dict: key.removesuffix("s")}
    kind = type(value[0]) if value else str
    return f"[]{types[kind]}{_list(value, level)}"


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
    programs=("go", "gcc"),
    method=pascal_method,
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
