"""The names that a client gets in each language, derived from the model's name."""

from __future__ import annotations

import keyword
import re
import sys
from dataclasses import dataclass

from polybake.errors import InputError

_WORDS = """
action array assert attribute base64 basic buffer class console convert core crypto data date
delegate digest embedder encoding enumerable environment error errors exception fact ffi fiber
file float func guid half hash hatchling index integer io json kernel lazy math memory microsoft
minitest model module mutex net node npm nullable numpy object onnx onnxruntime parallel path
polybake process proc progress promise rake random range ruby set socket span standard stream
string struct symbol system task tensor test tests thread time timeout timer tokenizer tokenizers
tuple type typescript types uri version windows xunit zlib
"""

#: Names that would shadow something a client or its users import, in any of the languages.
_SHADOWING = (
    frozenset(_WORDS.split())
    | sys.stdlib_module_names
    | frozenset(word.lower() for word in keyword.kwlist)
)


@dataclass(frozen=True)
class Names:
    """What the package is called where it is published, and where it is imported."""

    package: str
    module: str


#: How each language spells all-minilm-l6-v2: (package, module).
_SPELLINGS = {
    "python": ("kebab", "snake"),
    "node": ("kebab", "kebab"),
    "ruby": ("snake", "pascal"),
    "csharp": ("pascal", "pascal"),
}

_PATTERNS = {
    "python": (r"[A-Za-z0-9]+([._-][A-Za-z0-9]+)*", r"[a-z_][a-z0-9_]*"),
    "node": (r"(@[a-z0-9][a-z0-9._-]*/)?[a-z0-9][a-z0-9._-]*", r"[a-z0-9][a-z0-9._-]*"),
    "ruby": (r"[a-z][a-z0-9]*([_-][a-z0-9]+)*", r"[A-Z][A-Za-z0-9]*"),
    "csharp": (r"[A-Za-z][A-Za-z0-9]*(\.[A-Za-z][A-Za-z0-9]*)*",) * 2,
}


def names_for(
    language: str, model: str, *, package: str | None = None, module: str | None = None
) -> Names:
    """Derive package and module name of ``model`` for one language.

    Args:
        language: python, node, ruby or csharp.
        model: the manifest's name, kebab-case.
        package, module: names that the user chose instead.

    Raises:
        InputError: the name shadows something, or a chosen name is not one in that language.
    """
    if model in _SHADOWING:
        raise InputError(
            f"model name {model!r} would shadow a module or keyword of a client's language; "
            f"choose a longer one, such as {model}-embedder"
        )
    spell = {
        "kebab": model,
        "snake": model.replace("-", "_"),
        "pascal": "".join(part.capitalize() for part in model.split("-")),
    }
    spellings = _SPELLINGS[language]
    chosen = {"package": package, "module": module}
    for (key, value), pattern in zip(chosen.items(), _PATTERNS[language], strict=True):
        if value is None:
            continue
        if not re.fullmatch(pattern, value) or value.lower() in _SHADOWING:
            raise InputError(
                f"clients.{language}.{key}: {value!r} is not a usable {language} {key} name; "
                f"expected {pattern}, and nothing that shadows a known module"
            )
    return Names(
        package=package or spell[spellings[0]],
        module=module or spell[spellings[1]],
    )
