"""Ruby clients."""

from pydantic import JsonValue

from polybake.generation.languages.language import (
    Language,
    Spelling,
    bracketed,
    pascal,
    quoted,
    snake,
)

#: The most characters of an array or a hash within one line.
_WIDTH = 100


def ruby_string(text: str) -> str:
    """A Ruby string literal; ``#`` is escaped, since it may begin an interpolation."""
    return quoted(text, wide="\\u{{{:x}}}", also="#")


def ruby_literal(value: JsonValue, level: int) -> str:
    """An array or a hash too long for a line has a line for each part; it stands in a module."""
    if isinstance(value, str):
        return ruby_string(value)
    if value is None:
        return "nil"
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, list | dict):
        return repr(value)
    if not value:
        return "{}" if isinstance(value, dict) else "[]"
    space = "  " * (level + 1)
    if isinstance(value, dict):
        brackets = "{", "}"
        parts = [f"{ruby_string(key)} => {ruby_literal(value[key], level + 1)}" for key in value]
    else:
        brackets = "[", "]"
        parts = [ruby_literal(part, level + 1) for part in value]

    def fits(line: str) -> bool:
        return len(space) + len(line) <= _WIDTH

    return bracketed(brackets, parts, space, indent="  ", fits=fits)


RESERVED = """
array base64 basic class data date digest dir encoding etc exception ffi fiber file float hash
integer io json kernel lazy math minitest mutex object pathname proc process rake random range
ruby set socket standard string stringio struct symbol thread time timeout tmpdir uri zlib
"""

RUBY = Language(
    name="ruby",
    programs=("ruby", "bundle"),
    string=ruby_string,
    project_string=ruby_string,
    literal=ruby_literal,
    null="nil",
    elements={"float32": "Float", "int8": "Integer", "uint8": "Integer"},
    package=Spelling(snake, r"[a-z][a-z0-9]*([_-][a-z0-9]+)*"),
    module=Spelling(pascal, r"[A-Z][A-Za-z0-9]*"),
    reserved=frozenset(RESERVED.split()),
    project_files=frozenset(
        {
            "__path__.gemspec",
            "Gemfile",
            "Rakefile",
            "README.md",
            ".gitignore",
        }
    ),
)
