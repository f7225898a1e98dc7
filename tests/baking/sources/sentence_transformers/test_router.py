"""Routers, and routes with encoders of their own; tests/oracle/test_router.py compares vectors."""

from __future__ import annotations

import tomllib
from pathlib import Path

import onnx
import pytest
from safetensors.numpy import load_file

from models.bake import bake
from models.folders.tiny_folders import (
    change_json,
    write_json,
    write_router,
    write_sentence_transformers,
    write_two_encoders,
)
from polybake.baking.recipe.resolve import resolve
from polybake.baking.sources import open_source
from polybake.baking.sources.sentence_transformers.module import Router
from polybake.baking.sources.sentence_transformers.modules_json import read_router
from polybake.base.files.model_folder import ModelFolder
from polybake.base.modelfile.container import read_head
from polybake.cli.init import settings_text
from polybake.cli.target import config_for
from polybake.config import load_config
from polybake.errors import InputError

NORMALIZE = "sentence_transformers.base.modules.normalize.Normalize"
ROUTES = {name: [f"{name}_0"] for name in ("query", "document", "title")}
TYPES = {module: NORMALIZE for modules in ROUTES.values() for module in modules}


def read(folder: Path, prompts: dict[str, str] | None = None, **parameters: object) -> Router:
    write_router(folder, ROUTES, TYPES, **parameters)
    return read_router(ModelFolder.at(folder), "", prompts or {})


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


FORWARD = {"method": "forward", "method_output_name": "last_hidden_state"}


def bake_routes(folder: Path, out: Path) -> Path:
    source = open_source(folder)
    return bake(source, resolve(source.recipe, base=folder, source=source), out, name="two").path


def weights(*folders: Path) -> int:
    files = [folder / "model.safetensors" for folder in folders]
    return sum(array.nbytes for file in files for array in load_file(file).values())


def baked_weights(path: Path) -> int:
    graph = onnx.load(path).graph
    assert not any(node.attribute[0].g.initializer for node in graph.node if node.op_type == "If")
    return sum(len(tensor.raw_data) for tensor in graph.initializer)


def test_is_one_size_larger_than_its_parts(tmp_path: Path) -> None:
    """Weights are initializers of the main graph, and equal ones are stored once."""
    folder = write_two_encoders(tmp_path / "model")
    query, document = folder / "q_bert", folder / "d_bert"
    both = bake_routes(folder, tmp_path / "both.onnx")
    assert baked_weights(both) == pytest.approx(weights(query, document), rel=0.05)
    manifest = read_head(both).manifest
    assert manifest.encoder == "query: bert; document: bert"
    (route,) = manifest.steps
    assert route == (
        "route(query: pool(mode=mean) -> dense(weight=12x8, activation=tanh); "
        "document: pool(mode=cls); default: document)"
    )
    for name in ("config.json", "model.safetensors"):
        (query / name).write_bytes((document / name).read_bytes())
    routes = {"query": ["q_bert", "q_pool"], "document": ["d_bert", "d_pool"]}
    change_json(folder / "router_config.json", structure=routes)
    same = baked_weights(bake_routes(folder, tmp_path / "same.onnx"))
    assert same == pytest.approx(weights(document), rel=0.05)


def test_init_writes_routes_that_bake_again(tmp_path: Path) -> None:
    """polybake.toml lists each route's steps, one a line, and is read as the folder is."""
    folder = write_two_encoders(tmp_path / "model")
    source, path = open_source(folder), tmp_path / "polybake.toml"
    text = settings_text(source, config_for(folder, (), name="m"), tmp_path)
    path.write_text(text)
    assert '[steps.routes]\nquery = [\n    {step = "pool", mode = "mean"},\n' in text
    assert tomllib.loads(text)["prompts"] == {"query": "", "document": ""}
    steps = load_config(path).steps
    assert steps is not None
    ours = resolve(steps, base=tmp_path, source=source)
    theirs = resolve(source.recipe, base=tmp_path, source=source)
    assert [str(step) for step in ours] == [str(step) for step in theirs]


@pytest.mark.parametrize(
    ("file", "changes", "shown"),
    [
        ("tokenizer_config.json", {"pad_token": "[MASK]"}, "padding id: 0 and 4"),
        (
            "tokenizer.json",
            {"pre_tokenizer": {"type": "Whitespace"}},
            "pre_tokenizer: .*Whitespace",
        ),
        (
            "sentence_bert_config.json",
            {"modality_config": {"text": FORWARD, "message": FORWARD}},
            r"modality_config\.message",
        ),
    ],
)
def test_what_is_refused_of_each_encoder(
    file: str, changes: dict[str, object], shown: str, tmp_path: Path
) -> None:
    """A text's ids are made once, whichever route it takes; and what is refused of any model."""
    folder = write_two_encoders(tmp_path / "model")
    path = folder / "d_bert" / file
    if not path.exists():
        write_json(path, {})
    change_json(path, **changes)
    with pytest.raises(InputError, match=shown):
        open_source(folder)


def test_routes_in_another_order_are_refused(tmp_path: Path) -> None:
    """They would take each other's encoder."""
    source = open_source(write_two_encoders(tmp_path / "model"))
    pool = [{"step": "pool", "mode": "mean"}]
    spec = {"step": "route", "default": "query", "routes": {"document": pool, "query": pool}}
    steps = resolve([spec], base=tmp_path, source=source)
    with pytest.raises(InputError, match="in this order"):
        bake(source, steps, tmp_path / "out.onnx", name="two")
