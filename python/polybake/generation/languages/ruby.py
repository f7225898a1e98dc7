"""Ruby clients."""

from polybake.generation.languages.language import Language, Spelling, pascal, quoted, snake


def ruby_string(text: str) -> str:
    """A Ruby string literal; ``#`` is escaped, since it may begin an interpolation."""
    return quoted(text, wide="\\u{{{:x}}}", also="#")


RESERVED = """
array base64 basic class data date digest dir encoding etc exception ffi fiber file float hash
integer io json kernel lazy math minitest mutex object pathname proc process rake random range
ruby set socket standard string stringio struct symbol thread time timeout tmpdir uri zlib
"""

RUBY = Language(
    name="ruby",
    string=ruby_string,
    project_string=ruby_string,
    literal=lambda value, level: str(value),
    null="nil",
    true="true",
    false="false",
    elements={"float32": "Float", "int8": "Integer", "uint8": "Integer"},
    package=Spelling(snake, r"[a-z][a-z0-9]*([_-][a-z0-9]+)*"),
    module=Spelling(pascal, r"[A-Z][A-Za-z0-9]*"),
    reserved=frozenset(RESERVED.split()),
    project_files=frozenset(
        {
            "__path__.gemspec",
            "lib/__path__/extensions.rb",
            "Gemfile",
            "Rakefile",
            "README.md",
            ".gitignore",
        }
    ),
)
