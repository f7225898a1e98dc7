"""The languages of generated clients: a module for each, beside its folder of templates."""

from polybake.generation.languages.browser import BROWSER
from polybake.generation.languages.csharp import CSHARP
from polybake.generation.languages.go import GO
from polybake.generation.languages.java import JAVA
from polybake.generation.languages.language import Language
from polybake.generation.languages.node import NODE
from polybake.generation.languages.python import PYTHON
from polybake.generation.languages.ruby import RUBY
from polybake.generation.languages.rust import RUST

__all__ = ["DEFAULT_LANGUAGES", "LANGUAGES", "Language"]

#: The languages by name; all other code, from polybake.toml to --require, reads them from here.
LANGUAGES: dict[str, Language] = {
    language.name: language for language in (PYTHON, NODE, RUBY, CSHARP, JAVA, GO, RUST, BROWSER)
}

#: Those whose clients are written where nobody chooses.
DEFAULT_LANGUAGES = ("python", "node", "ruby", "csharp")
