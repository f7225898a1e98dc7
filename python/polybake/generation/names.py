"""The names that a client gets in its language, derived from the model's name."""

import re
from dataclasses import dataclass

from polybake.errors import InputError
from polybake.generation.languages import LANGUAGES

#: Names that clients have for something else, without hyphens.
_OURS = """
classifier embedder error errors hybridembedder hybridembedding label model module
multivectorembedder onnx onnxruntime pairclassifier polybake rank reranker sparseembedder
sparsevector tensor test tests tokenizer tokenizers tokens tokenweight types zeroshotclassifier
"""


@dataclass(frozen=True)
class Names:
    """The names of the published package and of the imported module."""

    package: str
    module: str


def names_for(
    language: str, model: str, *, package: str | None = None, module: str | None = None
) -> Names:
    """Derive the names of package and module of ``model`` in a language."""
    if _is_reserved(model):
        raise InputError(
            f"model name {model!r} would shadow a module or keyword of a client's language; "
            f"choose a longer one, such as my-{model}"
        )
    own = LANGUAGES[language]
    for key, pattern, value in (
        ("package", own.package.pattern, package),
        ("module", own.module.pattern, module),
    ):
        if value is not None and (not re.fullmatch(pattern, value) or _is_reserved(value)):
            raise InputError(
                f"clients.{language}.{key}: {value!r} is not a usable {language} {key} name; "
                f"expected {pattern}, and nothing that shadows a known module"
            )
    return Names(
        package=own.package.of_model(model) if package is None else package,
        module=own.module.of_model(model) if module is None else module,
    )


def _is_reserved(name: str) -> bool:
    reserved = (language.reserved for language in LANGUAGES.values())
    bare = name.lower().replace("-", "").replace("_", "")
    return bare in frozenset(_OURS.split()).union(*reserved)
