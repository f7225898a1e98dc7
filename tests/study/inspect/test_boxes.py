"""The boxes, arrows and shapes of a picture."""

from __future__ import annotations

import numpy as np
import pytest
from onnxscript import ir

from models.folders.tiny_folders import write_bert
from polybake.baking.bake import bake
from polybake.baking.sources import open_source
from polybake.steps import Dropout, Normalize, Pool, Subtract
from polybake.study.inspect.boxes import Box, Picture, picture_of, shape_text
from polybake.study.inspect.graph import read_graph


@pytest.fixture(scope="module", params=[False, True], ids=["flat", "functions"])
def baked(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Picture:
    """A BERT of two layers with four steps, of which one computes nothing."""
    folder = tmp_path_factory.mktemp("boxes")
    steps = [
        Pool(mode="mean"),
        Dropout(),
        Subtract(vector=np.ones(12, np.float32)),
        Normalize(),
    ]
    source = open_source(write_bert(folder / "model"))
    report = bake(
        source,
        steps,
        folder / "out.onnx",
        name="tiny",
        functions=request.param,
        expose=["pool"],
    )
    return picture_of(read_graph(report.path), report.manifest.steps)


def test_boxes_of_a_baked_model(baked: Picture) -> None:
    """Inputs, the parts of the encoder with equal layers as one, steps by name, and outputs."""
    kinds = [(box.kind, box.title, box.times) for box in baked.boxes]
    assert kinds == [
        ("input", "input_ids", 1),
        ("input", "attention_mask", 1),
        ("encoder", "embeddings", 1),
        ("encoder", "padding_bias", 1),
        ("encoder", "encoder.layer", 2),
        ("step", "pool", 1),
        ("step", "subtract", 1),
        ("step", "normalize", 1),
        ("output", "sentence_embedding", 1),
        ("output", "pool", 1),
    ]
    assert baked.boxes[5].detail == "mode=mean"
    assert baked.boxes[6].detail == "vector=12"


def test_arrows_of_a_baked_model(baked: Picture) -> None:
    """Each arrow goes from the box that gives a value to one that reads it, once."""
    named = [(baked.boxes[a].title, baked.boxes[b].title) for a, b in baked.arrows]
    assert sorted(named) == sorted(
        [
            ("input_ids", "embeddings"),
            ("attention_mask", "padding_bias"),
            ("embeddings", "encoder.layer"),
            ("padding_bias", "encoder.layer"),
            ("encoder.layer", "pool"),
            ("attention_mask", "pool"),
            ("pool", "subtract"),
            ("pool", "pool"),
            ("subtract", "normalize"),
            ("normalize", "sentence_embedding"),
        ]
    )


def test_shapes_of_a_baked_model(baked: Picture) -> None:
    """The shape beside a box is that of its output; output boxes have none."""
    shapes = {box.title: shape for box, shape in zip(baked.boxes, baked.shapes, strict=True)}
    assert shapes["input_ids"] == "batch × sequence"
    assert shapes["encoder.layer"] == "batch × sequence × 12"
    assert shapes["subtract"] == "batch × 12"
    assert shapes["sentence_embedding"] == ""


def test_boxes_of_any_graph() -> None:
    """A small graph without names has a box for each operator, and none for weights."""
    model = ir.from_onnx_text("""
        <ir_version: 8, opset_import: ["" : 18]>
        g (float[N, 2] x) => (float[N, 2] y, float[N, 2] x2)
        <float[2] w = {1.0, 2.0}>
        { h = Add (x, w)  y = Tanh (h)  x2 = Identity (x) }
    """)
    picture = picture_of(model, [])
    assert picture.boxes == (
        Box("input", "x", "float32"),
        Box("encoder", "Add", ""),
        Box("encoder", "Tanh", ""),
        Box("encoder", "Identity", ""),
        Box("output", "y", "float32"),
        Box("output", "x2", "float32"),
    )
    assert picture.arrows == ((0, 1), (1, 2), (0, 3), (2, 4), (3, 5))


def test_shape_text() -> None:
    """Sizes have a sign between them; a scalar and an unknown rank are named."""
    assert shape_text(ir.val("x", ir.DataType.FLOAT, ["batch", 1, None])) == "batch × 1 × ?"
    assert shape_text(ir.val("x", ir.DataType.FLOAT, [])) == "scalar"
    assert shape_text(ir.Value(name="x")) == "?"
