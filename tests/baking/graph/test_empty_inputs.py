"""Inputs that a node names last and gives nothing to."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnx.helper
import pytest

from models.folders.tiny_folders import write_bert
from models.onnx.tiny_onnx import HIDDEN, encoder, expected_tokens, write_encoder
from polybake.baking.bake import bake
from polybake.baking.graph.empty_inputs import drop_empty_inputs
from polybake.baking.graph.nodes import every_node
from polybake.baking.recipe.resolve import resolve
from polybake.baking.sources import open_source
from polybake.base.modelfile.container import read_head
from polybake.base.modelfile.fixture import decode_vectors

SCALE = np.random.default_rng(5).normal(1, 0.2, HIDDEN).astype(np.float32)

STEP = """
import numpy as np
from onnxscript import ir

def step(op, embedding):
    scale = op.initializer(ir.tensor(np.ones(12, np.float32)), "scale")
    return op.LayerNormalization(embedding, scale, None)
"""


def normalised() -> onnx.ModelProto:
    """An encoder whose last node is a LayerNormalization with an empty bias."""
    body = "rows = Gather (table, input_ids)  kept = Tanh (rows)"
    model = encoder(body=body, opset=17)
    node = onnx.helper.make_node(
        "LayerNormalization", ["kept", "scale", ""], ["last_hidden_state"], axis=-1, epsilon=1e-5
    )
    model.graph.node.append(node)
    model.graph.initializer.append(onnx.numpy_helper.from_array(SCALE, "scale"))
    return model


def test_they_are_dropped_in_branches_too() -> None:
    """An empty name in the middle stays: what follows it is given."""
    inner = onnx.helper.make_node("Clip", ["x", "", ""], ["y"])
    branch = onnx.helper.make_graph([inner], "branch", [], [])
    outer = onnx.helper.make_node("If", ["c"], ["y"], then_branch=branch, else_branch=branch)
    middle = onnx.helper.make_node("Clip", ["x", "", "high"], ["y"])
    graph = onnx.helper.make_graph([outer, middle], "graph", [], [])
    model = onnx.helper.make_model(graph)
    drop_empty_inputs(model)
    outer, middle = model.graph.node
    for attribute in outer.attribute:
        assert list(attribute.g.node[0].input) == ["x"]
    assert list(middle.input) == ["x", "", "high"]


def test_a_file_that_ends_onnx_runtime_is_baked(tmp_path: Path) -> None:
    """ONNX Runtime 1.31 dies of the file, and this test with it, if it is opened as it came."""
    source = open_source(write_encoder(tmp_path / "m", normalised()))
    steps = resolve([{"step": "pool", "mode": "mean"}], base=tmp_path, source=source)
    out = bake(source, steps, tmp_path / "out.onnx", name="tiny").path
    for case in read_head(out).fixture.cases:
        for ids, vector in zip(case.input_ids, decode_vectors(case.embeddings), strict=True):
            x = expected_tokens(list(ids))
            x = (x - x.mean(axis=1, keepdims=True)) / np.sqrt(x.var(axis=1, keepdims=True) + 1e-5)
            assert vector == pytest.approx((x * SCALE).mean(axis=0), abs=1e-5)


@pytest.mark.parametrize("functions", [False, True])
def test_a_step_that_gives_no_bias_is_baked(functions: bool, tmp_path: Path) -> None:
    """The builder names an empty input for None, and the file has none."""
    (tmp_path / "own.py").write_text(STEP, encoding="utf-8")
    source = open_source(write_bert(tmp_path / "m"))
    specs = [{"step": "pool", "mode": "mean"}, {"step": "python", "file": "own.py"}]
    out = tmp_path / "out.onnx"
    steps = resolve(specs, base=tmp_path, source=source)
    bake(source, steps, out, name="tiny", functions=functions)
    nodes = every_node(onnx.load(out))
    norms = [node for node in nodes if node.op_type == "LayerNormalization"]
    assert len(norms[-1].input) == 2
