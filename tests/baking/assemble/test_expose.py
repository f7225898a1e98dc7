"""Intermediate values as outputs: the right ones, beside the contract's, or a line that helps."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

from models.bake import bake
from models.folders.tiny_folders import write_bert
from models.onnx.tiny_onnx import POOLED, encoder, write_encoder
from polybake.baking.bake import BakeReport
from polybake.baking.sources import open_source
from polybake.base.modelfile.container import read_head
from polybake.errors import InputError
from polybake.runtime.embedder import Embedder
from polybake.runtime.feeds import feeds
from polybake.runtime.session import open_session
from polybake.steps import Normalize, Pool, Route, Scale, Step

STEPS: list[Step] = [Pool(mode="mean"), Scale(factor=3.0), Scale(factor=0.5), Normalize()]
TEXTS = ["the river", "water"]
ROWS = [[2, 11, 13, 3], [2, 5, 3]]


def bake_tiny(tmp_path: Path, *expose: str) -> BakeReport:
    source = open_source(write_bert(tmp_path / "model"))
    out = tmp_path / "out.onnx"
    return bake(source, STEPS, out, name="tiny", expose=expose)


def test_gives_what_each_name_means(tmp_path: Path) -> None:
    """Steps by name and by place, and token embeddings, hold the values that lead to the vector."""
    names = ("pool", "steps.1", "token_embeddings", "steps.2")
    report = bake_tiny(tmp_path, *names)
    session = open_session(report.path)
    outputs = ["sentence_embedding", *names]
    assert [one.name for one in session.get_outputs()] == outputs
    fed = feeds(report.manifest.contract, ROWS)
    vector, pooled, tripled, tokens, halved = session.run(outputs, fed)
    assert tokens.shape == (2, 4, 12)
    mask = fed["attention_mask"][:, :, np.newaxis]
    mean = (tokens * mask).sum(axis=1) / mask.sum(axis=1)
    assert pooled == pytest.approx(mean, abs=1e-6)
    assert tripled == pytest.approx(mean * 3, abs=1e-5)
    assert halved == pytest.approx(mean * 1.5, abs=1e-5)
    assert vector == pytest.approx(mean / np.linalg.norm(mean, axis=1, keepdims=True), abs=1e-6)


def test_a_value_of_the_graph(tmp_path: Path) -> None:
    """Any value that a node gives keeps its name as an output, with its type and shape."""
    plain = onnx.load(bake_tiny(tmp_path).path)
    name = next(n.output[0] for n in plain.graph.node if n.name.startswith("encoder/layer.1/out"))
    report = bake_tiny(tmp_path, name)
    onnx.checker.check_model(report.path, full_check=True)
    found = onnx.load(report.path).graph.output[1]
    assert found.name == name
    assert (found.type.tensor_type.elem_type, len(found.type.tensor_type.shape.dim)) == (1, 3)


def test_the_model_stays_a_model(tmp_path: Path) -> None:
    """Manifest and contract say what they said, golden cases hold, and clients see one output."""
    plain = bake_tiny(tmp_path)
    vectors = Embedder(plain.path).embed(TEXTS)
    exposed = bake_tiny(tmp_path, "pool", "steps.1")
    assert (plain.manifest.exposed, exposed.manifest.exposed) == ((), ("pool", "steps.1"))
    assert exposed.manifest.contract == plain.manifest.contract
    assert read_head(exposed.path).manifest == exposed.manifest
    assert Embedder(exposed.path).self_check() < 1e-6
    assert Embedder(exposed.path).embed(TEXTS) == pytest.approx(vectors, abs=1e-6)


@pytest.mark.parametrize(
    ("names", "shown"),
    [
        (["poool"], "no value is called 'poool'; near are: pool; see all with: polybake inspect"),
        (["v_steps.0.Di"], r"'v_steps.0.Di'; near are: v_steps\.0\.Div_\d+, "),
        (["#"], "near are: none"),
        (["steps.4"], r"'steps.4'; near are: steps\.\d"),
        (["pool", "steps.0"], "'steps.0' is the output 'pool' already"),
        (["pool", "pool"], "'pool' is the output 'pool' already"),
    ],
)
def test_refuses_other_names(names: list[str], shown: str, tmp_path: Path) -> None:
    """A wrong name shows those that are near; nothing is written."""
    with pytest.raises(InputError, match=shown) as raised:
        bake_tiny(tmp_path, *names)
    assert "\n" not in str(raised.value)
    assert not (tmp_path / "out.onnx").exists()


def test_a_step_that_is_called_as_an_input(tmp_path: Path) -> None:
    """A step whose result would take an input's name is named by its place instead."""
    route = Route(routes={"query": (), "document": (Scale(factor=2.0),)}, default="document")
    source = open_source(write_bert(tmp_path / "model"))
    steps = [Pool(mode="mean"), route, Normalize()]
    with pytest.raises(InputError, match=r"'route' is an input, .*its place: steps\.1$"):
        bake(source, steps, tmp_path / "out.onnx", name="tiny", expose=["route"])
    report = bake(source, steps, tmp_path / "out.onnx", name="tiny", expose=["steps.1"])
    assert [one.name for one in open_session(report.path).get_outputs()][1:] == ["steps.1"]


def test_of_an_onnx_file(tmp_path: Path) -> None:
    """An ONNX source may state no shapes; its exposed values get theirs and keep their names."""
    path = write_encoder(tmp_path / "model", encoder())
    steps = [Pool(mode="mean"), Normalize()]
    out = tmp_path / "out.onnx"
    bake(open_source(path), steps, out, name="tiny", expose=["encoder.rows", "token_embeddings"])
    found = [value.type.tensor_type for value in onnx.load(out).graph.output]
    assert [(kind.elem_type, len(kind.shape.dim)) for kind in found] == [(1, 2), (1, 3), (1, 3)]


def test_a_source_that_pools_has_no_token_embeddings(tmp_path: Path) -> None:
    """The vectors of such a source are never given out as token embeddings."""
    path = write_encoder(tmp_path / "model", encoder(outputs=POOLED))
    with pytest.raises(InputError, match="no value is called 'token_embeddings'"):
        bake(open_source(path), [], tmp_path / "o.onnx", name="t", expose=["token_embeddings"])
