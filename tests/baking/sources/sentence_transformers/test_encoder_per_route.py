"""Routes with encoders of their own; tests/oracle/test_router.py compares their vectors."""

from __future__ import annotations

import tomllib
from pathlib import Path

import onnx
import pytest
from safetensors.numpy import load_file

from models.folders.tiny_folders import change_json, write_json, write_two_encoders
from polybake.baking.bake import bake
from polybake.baking.recipe.resolve import resolve
from polybake.baking.sources import open_source
from polybake.base.modelfile.container import read_head
from polybake.cli.init import settings_text
from polybake.config import load_config
from polybake.errors import InputError

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
    text = settings_text(source, folder, "two", tmp_path, "native")
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
