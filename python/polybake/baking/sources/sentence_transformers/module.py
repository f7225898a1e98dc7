"""A module of a sentence-transformers folder, and a Router, which holds several.

Types are matched by the package and their last name against an allow-list; nothing they name is
imported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

from polybake.baking.sources.checkpoint import architecture_name
from polybake.baking.sources.sentence_transformers import OWN_STEPS
from polybake.baking.sources.sentence_transformers.first_modules import FIRST
from polybake.baking.sources.sentence_transformers.saved_modules import FOLLOWING
from polybake.base.files.model_folder import ModelFolder
from polybake.errors import InputError

ROUTERS = ("Router", "Asym")

#: The packages of modules in all versions of sentence-transformers; other types are foreign code.
PACKAGES = (
    "sentence_transformers.models.",
    "sentence_transformers.base.modules.",
    "sentence_transformers.sentence_transformer.modules.",
    "sentence_transformers.sparse_encoder.modules.",
    "sentence_transformers.sparse_encoder.models.",
    "sentence_transformers.multi_vector_encoder.modules.",
    "sentence_transformers.cross_encoder.modules.",
)
#: Modules of models' own code that is known, by the name that they have there.
_KNOWN_CODE = ("st_quantize.FlexibleQuantizer",)
#: The same of an encoder that is known, by its architecture: it gives token embeddings as the
#: library's own does, and its argument ``task`` is the setting ``adapter``.
_KNOWN_ENCODERS = {"custom_st.Transformer": "xlm_roberta_flash"}
_PLAIN = (*FIRST, *FOLLOWING, "MultiVectorMask")
#: Modules of sentence-transformers that are not baked, and what helps.
_NOT_BAKED = {
    "WordEmbeddings": "save its words and vectors as a StaticEmbedding",
    "BoW": "save its words and weights as a SparseStaticEmbedding",
    **dict.fromkeys(
        ("CNN", "LSTM", "WordWeights"),
        f"export the encoder together with it to an .onnx file, {OWN_STEPS}",
    ),
}
#: The module behind a CrossEncoder's language model.
LOGIT_SCORE = "LogitScore"
KNOWN = (*_PLAIN, *ROUTERS, LOGIT_SCORE)


@dataclass(frozen=True)
class Router:
    """The parts of a Router that texts reach.

    Attributes:
        routes: Each route's modules, in order.
        default: The route of a text without a task; None if the library raises.
        tasks: The tasks that may be asked for; each is also a prompt's name.
        prompts: The route of a prompt, by the prompt's name, if the names differ.
    """

    routes: Mapping[str, tuple[Module, ...]]
    default: str | None
    tasks: tuple[str, ...]
    prompts: Mapping[str, str]

    @property
    def shared(self) -> tuple[Module, ...]:
        """The identical modules that every route begins with."""
        together = zip(*self.routes.values(), strict=False)
        return tuple(same[0] for same in takewhile(lambda same: len({*same}) == 1, together))


@dataclass(frozen=True)
class Module:
    """A module.

    Attributes:
        kind: The last part of its type's name.
        path: Its folder.
        router: The Router, if it is a Router.
    """

    kind: str
    path: str
    router: Router | None = None

    @property
    def paths(self) -> list[str]:
        """The folders that the module is read from."""
        if self.router is None:
            return [self.path]
        return [module.path for route in self.router.routes.values() for module in route]


def known_module(
    folder: ModelFolder,
    kind: str,
    path: str,
    known: Sequence[str] = _PLAIN,
    packages: tuple[str, ...] = PACKAGES,
) -> Module:
    """Return the module of a type."""
    where, name = folder.path / "modules.json", kind.rsplit(".", 1)[-1]
    if not kind.startswith(packages) and not _is_known_code(folder, kind, path):
        raise InputError(
            f"{where}: module type {kind!r} is none of sentence-transformers, and no code of a "
            f"model is run; expected {' or '.join(f'{root}…' for root in PACKAGES)}, or {OWN_STEPS}"
        )
    if name in _NOT_BAKED:
        raise InputError(f"{where}: {name} is a module that is not baked; {_NOT_BAKED[name]}")
    if name not in known:
        raise InputError(
            f"{where}: unknown module type {kind!r}; known are: {', '.join(known)}; {OWN_STEPS}"
        )
    return Module(name, path)


def _is_known_code(folder: ModelFolder, kind: str, path: str) -> bool:
    encoder = _KNOWN_ENCODERS.get(kind)
    known = encoder is not None and architecture_name(folder.inner(path)) == encoder
    return known or kind in _KNOWN_CODE
