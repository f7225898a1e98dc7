"""What sets one client language apart for the generator; the rest is in its templates."""

from __future__ import annotations

from dataclasses import dataclass

from polybake.generate.literals import (
    Encoder,
    csharp_string,
    javascript_string,
    json_string,
    python_string,
    ruby_string,
    xml_text,
)


@dataclass(frozen=True)
class Language:
    """How a language writes values, and which files belong to the client's owner.

    ``string`` encodes for source code, ``project_string`` for the package's project file.
    ``project_files`` are written once; after that they are their owner's.
    """

    name: str
    string: Encoder
    project_string: Encoder
    null: str
    true: str
    false: str
    project_files: frozenset[str]


PYTHON = Language(
    name="python",
    string=python_string,
    project_string=python_string,
    null="None",
    true="True",
    false="False",
    project_files=frozenset({"pyproject.toml", "README.md", ".gitignore"}),
)
NODE = Language(
    name="node",
    string=javascript_string,
    project_string=json_string,
    null="null",
    true="true",
    false="false",
    project_files=frozenset(
        {"package.json", "tsconfig.json", "biome.json", "README.md", ".gitignore", ".npmrc"}
    ),
)
RUBY = Language(
    name="ruby",
    string=ruby_string,
    project_string=ruby_string,
    null="nil",
    true="true",
    false="false",
    project_files=frozenset({"__path__.gemspec", "Gemfile", "Rakefile", "README.md", ".gitignore"}),
)
CSHARP = Language(
    name="csharp",
    string=csharp_string,
    project_string=xml_text,
    null="null",
    true="true",
    false="false",
    project_files=frozenset({"src/__module__.csproj", "README.md", ".gitignore"}),
)

LANGUAGES = {language.name: language for language in (PYTHON, NODE, RUBY, CSHARP)}
