"""Node clients."""

import json

from pydantic import JsonValue

from polybake.generation.languages.language import (
    Language,
    Spelling,
    bracketed,
    camel_method,
    quoted,
)

#: The most characters of a list or an object within one line.
_WIDTH = 100


def javascript_string(text: str) -> str:
    """A TypeScript string literal."""
    return quoted(text, wide="\\u{{{:x}}}")


def json_string(text: str) -> str:
    """A JSON string."""
    return json.dumps(text, ensure_ascii=False)


def javascript_literal(value: JsonValue, level: int) -> str:
    """A list or an object too long for a line has a line for each part."""
    if isinstance(value, str):
        return javascript_string(value)
    if not isinstance(value, list | dict) or not value:
        return json.dumps(value)
    space = "  " * level
    if isinstance(value, dict):
        brackets = "{ ", " }"
        parts = [f"{_key(key)}: {javascript_literal(value[key], level + 1)}" for key in value]
    else:
        brackets = "[", "]"
        parts = [javascript_literal(part, level + 1) for part in value]

    def fits(line: str) -> bool:
        return len(space) + len(line) <= _WIDTH

    return bracketed(brackets, parts, space, indent="  ", fits=fits, comma=",")


def _key(name: str) -> str:
    """Return a key as a literal, in brackets if it would set the prototype."""
    key = javascript_string(name)
    return f"[{key}]" if name == "__proto__" else key


PATTERN = r"[a-z0-9][a-z0-9._-]*"

RESERVED = """
array assert buffer console crypto date error file json math net node npm object path process
promise set stream string symbol timeout typescript uri
"""

NODE = Language(
    name="node",
    programs=("node", "npm"),
    method=camel_method,
    string=javascript_string,
    project_string=json_string,
    literal=javascript_literal,
    null="null",
    elements={"float32": "Float32Array", "int8": "Int8Array", "uint8": "Uint8Array"},
    package=Spelling(str, rf"(@[a-z0-9][a-z0-9._-]*/)?{PATTERN}"),
    module=Spelling(str, PATTERN),
    reserved=frozenset(RESERVED.split()),
    project_files=frozenset(
        {"package.json", "tsconfig.json", "biome.json", "README.md", ".gitignore", ".npmrc"}
    ),
)
