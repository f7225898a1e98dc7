"""router_config.json of a sentence-transformers Router: which modules a text takes.

Source: sentence-transformers ``Router``, formerly ``Asym``; its ``_resolve_route_name``.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import takewhile

from polybake.errors import InputError
from polybake.files.model_folder import ModelFolder
from polybake.tokenization.tokenizer import BakedTokenizer

#: Prompts that ``encode_document`` takes, too.
_ALIASES = {"passage": "document", "corpus": "document"}

_Key = tuple[object, object]


@dataclass(frozen=True)
class Router:
    """A Router as far as texts reach it.

    Attributes:
        routes: Each route's modules, as type and folder, in order.
        default: The route of a text without a task; None where the library raises.
        tasks: What may be asked for: each is a prompt's name, too.
        prompts: The route of a prompt by the prompt's name, where the names differ.
    """

    routes: Mapping[str, tuple[tuple[str, str], ...]]
    default: str | None
    tasks: tuple[str, ...]
    prompts: Mapping[str, str]

    @property
    def shared(self) -> tuple[tuple[str, str], ...]:
        """The modules that every route begins with, the very same ones."""
        together = zip(*self.routes.values(), strict=False)
        return tuple(same[0] for same in takewhile(lambda same: len({*same}) == 1, together))


def read_router(folder: ModelFolder, path: str, prompts: Mapping[str, str]) -> Router:
    """Read the Router in the folder ``path`` of a model that has ``prompts``.

    Raises:
        InputError: the file does not describe a Router.
    """
    inner = folder.inner(path)
    config = inner.settings("router_config.json") or inner.settings("config.json")
    try:
        routes = _routes(config, path)
        parameters = config.get("parameters")
        parameters = dict(parameters) if isinstance(parameters, dict) else {}
        mappings = _mappings(parameters)
        default = parameters.get("default_route")
        if default is None and parameters.get("allow_empty_key", True):
            default = next(iter(routes))
        for name in (*mappings.values(), *([default] if default is not None else [])):
            if name not in routes:
                raise ValueError(f"unknown route {name!r}")
    except ValueError as error:
        raise InputError(
            f"{inner.path / 'router_config.json'}: {error}; save the model again"
        ) from error

    def resolve(task: str | None) -> str | None:
        for key in ((task, "text"), (task, None), (None, "text"), (None, None)):
            if key in mappings:
                return mappings[key]
        names = (task, "text", default if task is None else None)
        return next((name for name in names if name in routes), None)

    named = [name for name in routes if resolve(name) == name]
    mapped = [task for task, _ in mappings if isinstance(task, str)]
    tasks = dict.fromkeys(["query", "document", *named, *mapped])
    found = {task: resolve(task) for task in tasks}
    aliases = {name: found[task] for name, task in _ALIASES.items() if name in prompts}
    taken = {name: route for name, route in {**found, **aliases}.items() if route is not None}
    plain = resolve(None)
    reached = {plain, *taken.values()}
    return Router(
        routes={name: modules for name, modules in routes.items() if name in reached},
        default=plain,
        tasks=tuple(task for task in tasks if task in taken),
        prompts={name: route for name, route in taken.items() if route != name},
    )


def same_tokenizer(folder: ModelFolder, tokenizers: Mapping[str, BakedTokenizer]) -> BakedTokenizer:
    """The one tokenizer of all routes: a text's ids are made before its route is taken.

    Raises:
        InputError: two differ.
    """
    (first, one), *others = tokenizers.items()
    facts = _facts(one)
    for name, other in others:
        found = _facts(other)
        for key in dict.fromkeys([*facts, *found]):
            if facts.get(key) != found.get(key):
                raise InputError(
                    f"{folder.path}: routes {first!r} and {name!r} have different tokenizers "
                    f"({key}: {_short(facts.get(key))} and {_short(found.get(key))}); "
                    "bake each route as a model of its own"
                )
    return one


def _routes(config: dict[str, object], path: str) -> dict[str, tuple[tuple[str, str], ...]]:
    types, structure = config.get("types"), config.get("structure")
    if not isinstance(types, dict) or not isinstance(structure, dict) or not structure:
        raise ValueError("expected types and structure")
    routes = {}
    for name, listed in structure.items():
        if not isinstance(listed, list) or not all(
            isinstance(one, str) and isinstance(types.get(one), str) for one in listed
        ):
            raise ValueError(f"route {name!r} is {listed!r}, expected modules named in types")
        routes[name] = tuple((types[one], f"{path}/{one}" if path else one) for one in listed)
    return routes


def _mappings(parameters: dict[str, object]) -> dict[_Key, str]:
    """Routes by task and modality; JSON has each pair as Python writes it."""
    written = parameters.get("route_mappings") or {}
    if not isinstance(written, dict):
        raise ValueError(f"route_mappings is {written!r}, expected an object")
    mappings: dict[_Key, str] = {}
    for text, route in written.items():
        try:
            task, modality = ast.literal_eval(text)
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError) as error:
            raise ValueError(f"route_mappings has the key {text!r}, expected a pair") from error
        several = isinstance(modality, tuple) and all(isinstance(one, str) for one in modality)
        if not isinstance(task, str | None) or not (several or isinstance(modality, str | None)):
            raise ValueError(f"route_mappings has the key {text!r}, expected task and modality")
        mappings[task, modality] = str(route)
    return mappings


def _facts(tokenizer: BakedTokenizer) -> dict[str, object]:
    """What two tokenizers may differ in, the limits first."""
    return {
        "max length": tokenizer.max_length,
        "padding id": tokenizer.pad_id,
        "padding side": tokenizer.pad_side,
        **json.loads(tokenizer.json),
    }


def _short(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:60]}…"
