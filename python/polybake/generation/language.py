"""What sets one client language apart for the generator; the rest is in its templates."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from polybake.generation.literals import (
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
    ``project_files`` are written once; after that they are their owner's. ``elements`` names the
    type of an embedding's element, in Node that of its array, by the output's dtype.
    """

    name: str
    string: Encoder
    project_string: Encoder
    null: str
    true: str
    false: str
    project_files: frozenset[str]
    elements: Mapping[str, str]


def _msbuild_text(text: str) -> str:
    """Character data of a project file, in which MSBuild expands ``$(x)``, ``@(x)`` and ``%41``."""
    return re.sub(r"[$@%]", lambda found: f"%{ord(found[0]):02X}", xml_text(text))


PYTHON = Language(
    name="python",
    string=python_string,
    project_string=python_string,
    null="None",
    true="True",
    false="False",
    project_files=frozenset({"pyproject.toml", "README.md", ".gitignore"}),
    elements={dtype: dtype for dtype in ("float32", "int8", "uint8")},
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
    elements={"float32": "Float32Array", "int8": "Int8Array", "uint8": "Uint8Array"},
)
RUBY = Language(
    name="ruby",
    string=ruby_string,
    project_string=ruby_string,
    null="nil",
    true="true",
    false="false",
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
    elements={"float32": "Float", "int8": "Integer", "uint8": "Integer"},
)
CSHARP = Language(
    name="csharp",
    string=csharp_string,
    project_string=_msbuild_text,
    null="null",
    true="true",
    false="false",
    project_files=frozenset(
        {
            "src/__module__.csproj",
            "tests/__module__.Tests.csproj",
            "harness/__module__.Harness.csproj",
            "__module__.slnx",
            "Directory.Build.props",
            ".editorconfig",
            "README.md",
            ".gitignore",
        }
    ),
    elements={"float32": "float", "int8": "sbyte", "uint8": "byte"},
)

LANGUAGES = {language.name: language for language in (PYTHON, NODE, RUBY, CSHARP)}
