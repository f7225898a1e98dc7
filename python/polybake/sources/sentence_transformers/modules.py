"""modules.json of a sentence-transformers folder, with what its Router holds.

Module types are matched by the package and their last name against an allow-list; nothing they
name is imported.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from polybake.errors import InputError
from polybake.files.model_folder import ModelFolder
from polybake.sources.lookup import LOOKUPS
from polybake.sources.sentence_transformers.router import Router, read_router
from polybake.sources.sentence_transformers.unsupported import REMEDY

#: Where sentence-transformers has had its modules; any other type is code of another's.
_PACKAGES = (
    "sentence_transformers.models.",
    "sentence_transformers.base.modules.",
    "sentence_transformers.sentence_transformer.modules.",
)

_ROUTERS = ("Router", "Asym")

#: Modules that stand between the encoder and the pooling, and the steps that they are.
TOKEN_MODULES = {
    "CNN": "cnn",
    "LSTM": "lstm",
    "WordWeights": "word_weights",
    "WeightedLayerPooling": "weighted_layer_pooling",
}

#: What may stand after the first module.
FOLLOWING = ("Pooling", "Normalize", "Dense", "LayerNorm", "Dropout", *TOKEN_MODULES)

_KNOWN = ("Transformer", *LOOKUPS, *FOLLOWING)


@dataclass(frozen=True)
class Module:
    """One module.

    Attributes:
        kind: Its type's last name.
        path: Its folder.
        router: What it is, if it is a Router.
        routes: What its routes then consist of, without what stands before it.
    """

    kind: str
    path: str
    router: Router | None = None
    routes: Mapping[str, tuple[Module, ...]] = field(default_factory=dict)


def read_modules(folder: ModelFolder, prompts: Mapping[str, str]) -> list[Module]:
    """List the modules of a folder whose model has ``prompts``.

    What all routes of a Router begin with stands before it, and so it is left out where its
    routes are one.

    Raises:
        InputError: modules.json is damaged, or a module's type is not known.
    """
    path = folder.path / "modules.json"
    listed = folder.json("modules.json")
    if not isinstance(listed, list) or not listed:
        raise InputError(f"{path}: expected a list of modules; download it again")
    modules: list[Module] = []
    for entry in listed:
        kind = entry.get("type") if isinstance(entry, dict) else None
        where = entry.get("path") if isinstance(entry, dict) else None
        if not isinstance(kind, str) or not isinstance(where, str):
            raise InputError(
                f"{path}: {entry!r} is no module with type and path; download it again"
            )
        if _name(path, kind) not in _ROUTERS:
            modules += _plain(folder, [(kind, where)])
            continue
        router = read_router(folder, where, prompts)
        shared = router.shared
        modules += _plain(folder, shared)
        own = {name: listed[len(shared) :] for name, listed in router.routes.items()}
        if any(own.values()):
            routes = {name: tuple(_plain(folder, listed)) for name, listed in own.items()}
            modules.append(Module("Router", where, router, routes))
    return modules


def _plain(folder: ModelFolder, listed: Iterable[tuple[str, str]]) -> list[Module]:
    """The modules of these types and folders, none of which is a Router."""
    modules = []
    for kind, where in listed:
        path = folder.path / "modules.json"
        name = _name(path, kind)
        if name not in _KNOWN:
            raise InputError(
                f"{path}: unknown module type {kind!r}; "
                f"known are: {', '.join([*_KNOWN, *_ROUTERS])}; {REMEDY}"
            )
        modules.append(Module(name, where))
    return modules


def _name(path: Path, kind: str) -> str:
    """The last name of a module's type.

    Raises:
        InputError: the type is none of sentence-transformers.
    """
    if not kind.startswith(_PACKAGES):
        raise InputError(
            f"{path}: module type {kind!r} is none of sentence-transformers, and no code of a "
            f"model is run; expected {' or '.join(f'{one}…' for one in _PACKAGES)}, or {REMEDY}"
        )
    return kind.rsplit(".", 1)[-1]
