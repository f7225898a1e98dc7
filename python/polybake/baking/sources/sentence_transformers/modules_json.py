"""Read modules.json of a sentence-transformers folder, and the modules of its Router."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated

from pydantic import Field, RootModel

from polybake.baking.sources.sentence_transformers.module import (
    KNOWN,
    PACKAGES,
    ROUTERS,
    Module,
    known_module,
)
from polybake.baking.sources.sentence_transformers.router_config import read_router
from polybake.base.files.model_folder import ModelFolder
from polybake.base.files.validation import JsonModel


class _Entry(JsonModel):
    type: str
    path: str


class _Entries(RootModel[Annotated[list[_Entry], Field(min_length=1)]]):
    """modules.json."""


def read_modules(
    folder: ModelFolder, prompts: Mapping[str, str], packages: tuple[str, ...] = PACKAGES
) -> list[Module]:
    """List the modules of a folder whose model has ``prompts``, of types from ``packages``.

    Modules that all routes of a Router begin with are listed before it. So the Router is left
    out if its routes are equal.
    """
    modules: list[Module] = []
    for entry in folder.read("modules.json", _Entries, needed=True).root:
        module = known_module(folder, entry.type, entry.path, KNOWN, packages)
        if module.kind not in ROUTERS:
            modules.append(module)
            continue
        router = read_router(folder, entry.path, prompts)
        modules += router.shared
        own = {name: route[len(router.shared) :] for name, route in router.routes.items()}
        if any(own.values()):
            modules.append(replace(module, router=replace(router, routes=own)))
    return modules
