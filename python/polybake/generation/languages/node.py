"""Node clients."""

import json

from polybake.generation.languages.language import Language, Spelling, quoted


def javascript_string(text: str) -> str:
    """A TypeScript string literal."""
    return quoted(text, wide="\\u{{{:x}}}")


def json_string(text: str) -> str:
    """A JSON string."""
    return json.dumps(text, ensure_ascii=False)


PATTERN = r"[a-z0-9][a-z0-9._-]*"

RESERVED = """
array assert buffer console crypto date error file json math net node npm object path process
promise set stream string symbol timeout typescript uri
"""

NODE = Language(
    name="node",
    string=javascript_string,
    project_string=json_string,
    literal=lambda value, level: str(value),
    null="null",
    true="true",
    false="false",
    elements={"float32": "Float32Array", "int8": "Int8Array", "uint8": "Uint8Array"},
    package=Spelling(str, rf"(@[a-z0-9][a-z0-9._-]*/)?{PATTERN}"),
    module=Spelling(str, PATTERN),
    reserved=frozenset(RESERVED.split()),
    project_files=frozenset(
        {"package.json", "tsconfig.json", "biome.json", "README.md", ".gitignore", ".npmrc"}
    ),
)
