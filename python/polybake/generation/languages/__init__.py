"""The languages that clients are generated in: a file for each, beside its folder of templates."""

from polybake.generation.languages.csharp import CSHARP
from polybake.generation.languages.language import Language
from polybake.generation.languages.node import NODE
from polybake.generation.languages.python import PYTHON
from polybake.generation.languages.ruby import RUBY

__all__ = ["LANGUAGES", "Language"]

#: By name. All that is said of languages elsewhere, from polybake.toml to --require, is read here.
LANGUAGES: dict[str, Language] = {one.name: one for one in (PYTHON, NODE, RUBY, CSHARP)}
