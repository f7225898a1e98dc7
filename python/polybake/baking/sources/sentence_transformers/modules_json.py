"""Read modules.json of a sentence-transformers folder, and the modules of its Router."""

import ast
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Self

from pydantic import BeforeValidator, Field, RootModel, model_validator

from polybake.baking.sources.sentence_transformers.module import (
    KNOWN,
    PACKAGES,
    ROUTERS,
    Module,
    Router,
    known_module,
)
from polybake.base.files.known_keys import KnownKeys
from polybake.base.files.model_folder import ModelFolder
from polybake.base.files.validation import JsonModel

#: Prompts that ``encode_document`` takes, too.
ALIASES = {"passage": "document", "corpus": "document"}


def _pair(text: str) -> object:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError) as error:
        raise ValueError("Input should be a pair of task and modality") from error


#: A task and a modality or several, which JSON has as Python writes them.
_Key = Annotated[tuple[str | None, str | tuple[str, ...] | None], BeforeValidator(_pair)]


class _Parameters(JsonModel, KnownKeys):
    default_route: str | None = None
    allow_empty_key: bool = True
    route_mappings: dict[_Key, str] | None = None


class _RouterConfig(JsonModel, KnownKeys):
    """router_config.json, and a Router's config.json before that.

    Attributes:
        types: The type of each module.
        structure: The modules of each route.
    """

    types: dict[str, str]
    structure: Annotated[dict[str, list[str]], Field(min_length=1)]
    parameters: _Parameters = _Parameters()

    @model_validator(mode="after")
    def _names_what_it_has(self) -> Self:
        for route, modules in self.structure.items():
            if unknown := [name for name in modules if name not in self.types]:
                raise ValueError(f"route {route!r} has {unknown[0]!r}, expected a module of types")
        mappings = self.parameters.route_mappings or {}
        for target in (*mappings.values(), self.parameters.default_route):
            if target is not None and target not in self.structure:
                raise ValueError(f"unknown route {target!r}, expected one of structure")
        return self


def read_router(folder: ModelFolder, path: str, prompts: Mapping[str, str]) -> Router:
    """Read the Router in the folder ``path`` of a model that has ``prompts``."""
    inner = folder.inner(path)
    name = "config.json" if inner.file("router_config.json") is None else "router_config.json"
    config = inner.read(name, _RouterConfig, needed=True, remedy="save the model again")
    mappings, default = config.parameters.route_mappings or {}, config.parameters.default_route
    if default is None and config.parameters.allow_empty_key:
        default = next(iter(config.structure))

    def resolve(task: str | None) -> str | None:
        for key in ((task, "text"), (task, None), (None, "text"), (None, None)):
            if key in mappings:
                return mappings[key]
        names = (task, "text", default if task is None else None)
        return next((name for name in names if name in config.structure), None)

    named = [name for name in config.structure if resolve(name) == name]
    mapped = [task for task, _ in mappings if isinstance(task, str)]
    tasks = dict.fromkeys(["query", "document", *named, *mapped])
    matches = {task: resolve(task) for task in tasks}
    aliases = {name: matches[task] for name, task in ALIASES.items() if name in prompts}
    routes = {name: route for name, route in {**matches, **aliases}.items() if route is not None}
    plain = resolve(None)
    return Router(
        routes={
            name: tuple(
                known_module(folder, config.types[part], f"{path}/{part}" if path else part)
                for part in parts
            )
            for name, parts in config.structure.items()
            if name in {plain, *routes.values()}
        },
        default=plain,
        tasks=tuple(task for task in tasks if task in routes),
        prompts={name: route for name, route in routes.items() if route != name},
    )


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
