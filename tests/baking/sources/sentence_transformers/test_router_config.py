"""router_config.json, as sentence-transformers reads it; tests/oracle compares its vectors."""

from __future__ import annotations

from pathlib import Path

import pytest

from models.folders.tiny_folders import (
    change_json,
    write_json,
    write_router,
    write_sentence_transformers,
)
from polybake.baking.recipe.resolve import resolve
from polybake.baking.sources import open_source
from polybake.baking.sources.sentence_transformers.module import Module, Router
from polybake.baking.sources.sentence_transformers.router_config import read_router
from polybake.base.files.model_folder import ModelFolder
from polybake.errors import InputError

NORMALIZE = "sentence_transformers.base.modules.normalize.Normalize"
ROUTES = {name: [f"{name}_0"] for name in ("query", "document", "title")}
TYPES = {module: NORMALIZE for modules in ROUTES.values() for module in modules}


def read(folder: Path, prompts: dict[str, str] | None = None, **parameters: object) -> Router:
    write_router(folder, ROUTES, TYPES, **parameters)
    return read_router(ModelFolder.at(folder), "", prompts or {})


def test_routes_of_the_tasks(tmp_path: Path) -> None:
    """A task takes the route of its name; modules lie in folders of their names."""
    router = read(tmp_path, default_route="document")
    assert router.routes == {name: (Module("Normalize", f"{name}_0"),) for name in ROUTES}
    assert (router.default, router.tasks) == ("document", ("query", "document", "title"))
    assert router.prompts == {}


@pytest.mark.parametrize(
    ("parameters", "default"),
    [
        ({}, "query"),
        ({"allow_empty_key": True, "default_route": None}, "query"),
        ({"allow_empty_key": False}, None),
        ({"allow_empty_key": False, "default_route": "title"}, "title"),
        ({"default_route": "title", "route_mappings": {"(None, None)": "document"}}, "document"),
        ({"default_route": "title", "route_mappings": {"(None, 'image')": "query"}}, "title"),
    ],
)
def test_default_route(parameters: dict[str, object], default: str | None, tmp_path: Path) -> None:
    """It is the first one unless that is forbidden; a mapping of any task comes before it."""
    assert read(tmp_path, **parameters).default == default


def test_prompts_of_documents(tmp_path: Path) -> None:
    """encode_document takes the prompts passage and corpus, too; others take the default."""
    router = read(tmp_path, {"passage": "p: ", "corpus": "", "web": "w: "})
    assert router.prompts == {"passage": "document", "corpus": "document"}


def test_mapped_routes(tmp_path: Path) -> None:
    """Mappings of texts come before names, the exact ones first; what none reaches is left out."""
    mappings = {
        "('query', 'text')": "title",
        "('query', None)": "document",
        "('image', None)": "query",
        "(None, ('image', 'text'))": "query",
        "(None, 'text')": "document",
    }
    router = read(tmp_path, route_mappings=mappings)
    assert router.tasks == ("query", "document", "image")
    assert router.prompts == {"query": "title", "image": "query"}
    del mappings["('image', None)"]
    router = read(tmp_path, route_mappings=mappings)
    assert list(router.routes) == ["document", "title"]


def test_modules_of_all_routes(tmp_path: Path) -> None:
    """The very same first modules are shared; equal ones elsewhere or further on are not."""
    routes = {"a": ["one", "two", "last"], "b": ["one", "two"], "c": ["one", "other"]}
    for modules in routes.values():
        modules[2:] = ["again"]
    types = dict.fromkeys(("one", "two", "other", "again"), NORMALIZE)
    write_router(tmp_path / "2_Router", routes, types)
    router = read_router(ModelFolder.at(tmp_path), "2_Router", {})
    assert router.shared == (Module("Normalize", "2_Router/one"),)


def parameters(**given: object) -> dict[str, object]:
    """A whole file with these parameters."""
    return {"types": TYPES, "structure": ROUTES, "parameters": given}


def mapped(route: object, key: str = "(None, None)") -> dict[str, object]:
    """A whole file with this mapping."""
    return parameters(route_mappings={key: route})


@pytest.mark.parametrize(
    ("config", "shown"),
    [
        ({}, "types: is missing"),
        ({"types": TYPES}, "structure: is missing"),
        ({"types": TYPES, "structure": {}}, "structure: Dictionary should have at least 1 item"),
        ({"types": TYPES, "structure": {"query": "query_0"}}, r"structure\.query: .* valid array"),
        ({"types": TYPES, "structure": {"query": [1]}}, r"structure\.query\[0\]: .*, found 1"),
        ({"types": {}, "structure": ROUTES}, "route 'query' has 'query_0', expected a module"),
        (parameters(default_route="x"), "unknown route 'x', expected one of structure"),
        (parameters(route_mappings=[1]), "route_mappings: .* an object"),
        (mapped("x"), "unknown route 'x'"),
        (mapped(1), "Input should be a valid string"),
        (mapped("query", "open('x')"), "Input should be a pair of task"),
        (mapped("query", "('query',)"), r"\[key\]\[1\]: is missing"),
        (mapped("query", "('query', 1)"), r"\[key\]\[1\].*: Input should be"),
        (mapped("query", "(None, ([],))"), r"\[key\]\[1\].*: Input should be"),
    ],
)
def test_damaged_files_are_refused(config: dict[str, object], shown: str, tmp_path: Path) -> None:
    """What is wrong is named, and nothing in the file is run."""
    write_json(tmp_path / "router_config.json", config)
    with pytest.raises(InputError, match=rf"router_config\.json: .*{shown}.*; save the model"):
        read_router(ModelFolder.at(tmp_path), "", {})


def with_router(folder: Path, routes: dict[str, list[str]], **parameters: object) -> Path:
    """A BERT with mean pooling and a Router of Normalize modules behind it."""
    write_sentence_transformers(folder, ("Pooling", {"pooling_mode": "mean"}), ("Router", {}))
    (folder / "2_Router" / "config.json").unlink()
    types = {module: NORMALIZE for modules in routes.values() for module in modules}
    write_router(folder / "2_Router", routes, types, **parameters)
    return folder


TWO = {"query": ["one"], "document": list[str]()}


@pytest.mark.parametrize("routes", [{"query": ["one"]}, {"a": ["one"], "b": ["one"]}])
def test_one_route_is_none(routes: dict[str, list[str]], tmp_path: Path) -> None:
    """Where every text goes one way, its modules are steps like any other."""
    source = open_source(with_router(tmp_path / "m", routes))
    assert source.recipe == ({"step": "pool", "mode": "mean"}, {"step": "normalize"})


def test_a_plain_call_that_has_no_route_is_refused(tmp_path: Path) -> None:
    """sentence-transformers raises there; a client has no such call, so the recipe must say."""
    folder = with_router(tmp_path / "m", TWO, allow_empty_key=False)
    source = open_source(folder)
    with pytest.raises(InputError, match=r"steps\[1\]\.default: is missing; add it"):
        resolve(source.recipe, base=folder, source=source)
    given = [*source.recipe[:1], {**source.recipe[1], "default": "document"}]
    assert str(resolve(given, base=folder, source=source)[1]).endswith("default: document)")


@pytest.mark.parametrize(
    ("module", "kind", "shown"),
    [
        ("one", "sentence_transformers.models.Router", "unknown module type '.*Router'"),
        ("one", "sentence_transformers.models.Asym", "unknown module type '.*Asym'"),
        ("../../other", NORMALIZE, "lies outside the model's folder"),
    ],
)
def test_other_modules_in_a_route_are_refused(
    module: str, kind: str, shown: str, tmp_path: Path
) -> None:
    """A Router within a Router, and what lies elsewhere."""
    folder = with_router(tmp_path / "m", TWO | {"query": [module]})
    change_json(folder / "2_Router" / "router_config.json", types={module: kind})
    with pytest.raises(InputError, match=shown):
        open_source(folder)
