"""Routes with encoders of their own."""

from __future__ import annotations

import tomllib
from pathlib import Path

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray
from safetensors.numpy import load_file

from models.folders.tiny_folders import change_json, write_json, write_two_encoders
from polybake.baking.bake import bake
from polybake.baking.recipe.resolve import resolve
from polybake.baking.sources import open_source
from polybake.baking.sources.expanded_encoder import ExpandedEncoder
from polybake.baking.sources.onnx.file import OnnxFile
from polybake.baking.sources.sentence_transformers.folder import open_sentence_transformers
from polybake.base.files.model_folder import ModelFolder
from polybake.base.modelfile.container import read_head
from polybake.base.modelfile.fixture import decode_vectors
from polybake.cli.init import settings_text
from polybake.config import load_config
from polybake.errors import InputError
from polybake.runtime.feeds import feeds
from polybake.runtime.session import open_session
from polybake.steps import Normalize, Pool, Step


def bake_routes(folder: Path, out: Path) -> Path:
    source = open_source(folder)
    return bake(source, resolve(source.recipe, base=folder, source=source), out, name="two").path


def test_gives_what_each_model_alone_gives(tmp_path: Path) -> None:
    """Queries are one BERT's mean through a layer, documents the other one's first token."""
    folder = write_two_encoders(tmp_path / "model")
    head = read_head(bake_routes(folder, tmp_path / "out.onnx"))
    weight = load_file(folder / "q_dense" / "model.safetensors")["linear.weight"]
    alone = {}
    for name in ("q_bert", "d_bert"):
        (tmp_path / name).mkdir()
        reference = open_source(folder / name).encoder.reference(tmp_path / name)
        alone[name] = open_session(reference.path)

    def expected(ids: tuple[int, ...], prompt: str | None) -> NDArray[np.float32]:
        name = "q_bert" if prompt == "query" else "d_bert"
        fed = feeds(head.manifest.contract, [ids])
        del fed["route"]
        tokens = alone[name].run(None, fed)[0][0]
        return np.tanh(tokens.mean(axis=0) @ weight.T) if prompt == "query" else tokens[0]

    assert {case.prompt for case in head.fixture.cases} == {None, "query", "document"}
    for case in head.fixture.cases:
        for ids, vector in zip(case.input_ids, decode_vectors(case.embeddings), strict=True):
            assert vector == pytest.approx(expected(ids, case.prompt), abs=1e-6), case.id


def test_names_what_it_holds(tmp_path: Path) -> None:
    """The manifest shows the architecture and the steps of each route."""
    folder = write_two_encoders(tmp_path / "model")
    manifest = read_head(bake_routes(folder, tmp_path / "out.onnx")).manifest
    assert manifest.encoder == "query: bert; document: bert"
    (step,) = manifest.steps
    assert step == (
        "route(query: pool(mode=mean) -> dense(weight=12x8, activation=tanh); "
        "document: pool(mode=cls); default: document)"
    )


def test_is_one_size_larger_than_its_parts(tmp_path: Path) -> None:
    """Weights are initializers of the main graph, and equal ones are stored once."""
    folder = write_two_encoders(tmp_path / "model")
    one, two = (_weights(folder / name) for name in ("q_bert", "d_bert"))
    both = _baked_weights(bake_routes(folder, tmp_path / "both.onnx"))
    assert both == pytest.approx(one + two, rel=0.05)
    for name in ("config.json", "model.safetensors"):
        (folder / "q_bert" / name).write_bytes((folder / "d_bert" / name).read_bytes())
    router = folder / "router_config.json"
    change_json(router, structure={"query": ["q_bert", "q_pool"], "document": ["d_bert", "d_pool"]})
    assert _baked_weights(bake_routes(folder, tmp_path / "same.onnx")) == pytest.approx(
        two, rel=0.05
    )


def _weights(folder: Path) -> int:
    return sum(array.nbytes for array in load_file(folder / "model.safetensors").values())


def _baked_weights(path: Path) -> int:
    graph = onnx.load(path).graph
    assert not any(node.attribute[0].g.initializer for node in graph.node if node.op_type == "If")
    return sum(len(tensor.raw_data) for tensor in graph.initializer)


def test_init_writes_routes_that_bake_again(tmp_path: Path) -> None:
    """polybake.toml lists each route's steps, one a line, and is read as the folder is."""
    folder = write_two_encoders(tmp_path / "model")
    source, path = open_source(folder), tmp_path / "polybake.toml"
    text = settings_text(source, folder, "two", tmp_path, "native")
    path.write_text(text)
    assert '[steps.routes]\nquery = [\n    {step = "pool", mode = "mean"},\n' in text
    written = tomllib.loads(text)
    assert written["prompts"] == {"query": "", "document": ""}
    steps = load_config(path).steps
    assert steps is not None
    ours = resolve(steps, base=tmp_path, source=source)
    theirs = resolve(source.recipe, base=tmp_path, source=source)
    assert [str(step) for step in ours] == [str(step) for step in theirs]


def test_limits_of_their_own(tmp_path: Path) -> None:
    """The tokenizer cuts at the larger limit, and the graph a query at the smaller one."""
    source = open_source(write_two_encoders(tmp_path / "model", max_seq_length=9))
    assert source.tokenizer.max_length == 32
    assert isinstance(source.encoder, ExpandedEncoder)
    assert source.encoder.routes == ("query", "document")
    assert source.encoder.expansion.limits == (9, 32)
    assert not any(source.encoder.expansion.widths)


def test_refuses_tokenizers_that_lower_texts_differently(tmp_path: Path) -> None:
    """A text's ids are made once, whichever route it takes."""
    with pytest.raises(InputError, match=r"different tokenizers \(normalizer: "):
        open_source(write_two_encoders(tmp_path / "model", do_lower_case=True))


@pytest.mark.parametrize(
    ("file", "changes", "shown"),
    [
        ("tokenizer_config.json", {"pad_token": "[MASK]"}, "padding id: 0 and 4"),
        (
            "tokenizer.json",
            {"pre_tokenizer": {"type": "Whitespace"}},
            "pre_tokenizer: .*Whitespace",
        ),
    ],
)
def test_refuses_other_tokenizers(
    file: str, changes: dict[str, object], shown: str, tmp_path: Path
) -> None:
    """What differs is named, with both values."""
    folder = write_two_encoders(tmp_path / "model")
    change_json(folder / "d_bert" / file, **changes)
    with pytest.raises(InputError, match=shown):
        open_source(folder)


@pytest.mark.parametrize("steps", [[Pool(mode="mean")], [Normalize(), Pool(mode="mean")]])
def test_refuses_steps_without_its_routes(steps: list[Step], tmp_path: Path) -> None:
    """Which number means which encoder is said by the route step."""
    source = open_source(write_two_encoders(tmp_path / "model"))
    with pytest.raises(InputError, match="the encoder has the routes query, document; list one"):
        bake(source, steps, tmp_path / "out.onnx", name="two")


def test_refuses_other_names(tmp_path: Path) -> None:
    """Routes in another order would take each other's encoder."""
    source = open_source(write_two_encoders(tmp_path / "model"))
    pool = [{"step": "pool", "mode": "mean"}]
    spec = {"step": "route", "default": "query", "routes": {"document": pool, "query": pool}}
    steps = resolve([spec], base=tmp_path, source=source)
    with pytest.raises(InputError, match="in this order"):
        bake(source, steps, tmp_path / "out.onnx", name="two")


def test_refuses_an_export(tmp_path: Path) -> None:
    """An .onnx file beside a Router is none of its encoders."""
    folder = write_two_encoders(tmp_path / "model")
    export = OnnxFile(folder / "model.onnx", "last_hidden_state")
    with pytest.raises(InputError, match="query, document has an encoder of its own"):
        open_sentence_transformers(ModelFolder.at(folder), lambda *_: export)


def test_refuses_a_chat_template_in_a_route(tmp_path: Path) -> None:
    """What is refused of a model is refused of each of its encoders; so is a limit of queries."""
    folder = write_two_encoders(tmp_path / "model", query_length=8)
    with pytest.raises(InputError, match=r"q_bert: has query_length .* set max_seq_length in its"):
        open_source(folder)
    change_json(folder / "q_bert" / "sentence_bert_config.json", query_length=None)
    modalities = {"message": {"method": "forward", "method_output_name": "last_hidden_state"}}
    settings = {"modality_config": {"text": modalities["message"], **modalities}}
    write_json(folder / "d_bert" / "sentence_bert_config.json", settings)
    with pytest.raises(InputError, match=r"modality_config\.message"):
        open_source(folder)
