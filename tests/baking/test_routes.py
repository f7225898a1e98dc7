"""Models that take routes, baked."""

from __future__ import annotations

from pathlib import Path

import pytest
from onnxscript import OpBuilder, ir

from models.folders.tiny_folders import write_bert
from models.onnx.tiny_onnx import write_encoder
from polybake.baking.bake import bake
from polybake.baking.sources import open_source
from polybake.baking.steps.step import Pointwise
from polybake.base.modelfile.container import read_head
from polybake.errors import CheckFailed
from polybake.runtime.embedder import Embedder
from polybake.steps import Floats, Normalize, Pool, Route, Scale, Step

ROUTE = Route(
    routes={"query": (Normalize(),), "document": (Scale(factor=2.0),)},
    default="document",
    prompts={"passage": "document"},
)


def test_is_fed_beside_the_prompt_s_length(tmp_path: Path) -> None:
    """A model may take a prompt's length and its route, and every route is proven."""
    pools: list[Step] = [Pool(mode="mean", include_prompt=False), ROUTE]
    source = open_source(write_bert(tmp_path / "model"))
    prompts = {"query": "query: ", "document": ""}
    report = bake(source, pools, tmp_path / "out.onnx", name="tiny", prompts=prompts)
    head = read_head(report.path)
    values = {one.name: one.values for one in head.manifest.contract.inputs if one.values}
    assert values == {
        "prompt_length": {"": 0, "query": 3, "document": 0},
        "route": {"": 1, "query": 0, "document": 1},
    }
    assert {case.prompt for case in head.fixture.cases} == {None, "query", "document"}
    assert Embedder(report.path).self_check() < 1e-6


def test_routes_follow_an_export(tmp_path: Path) -> None:
    """An .onnx encoder may be continued by routes, at its own opset."""
    path = write_encoder(tmp_path / "model")
    steps: list[Step] = [Pool(mode="mean"), ROUTE]
    report = bake(open_source(path), steps, tmp_path / "out.onnx", name="tiny")
    assert report.manifest.opset == 12
    assert Embedder(report.path).self_check() < 1e-6


class Wrong(Scale):
    """A step whose NumPy form differs from its graph."""

    def formula(self, x: Floats) -> Floats:
        return 2 * super().formula(x)


class Neighbour(Pointwise):
    """A step that adds the first text of a batch to every one."""

    name = "neighbour"

    def onnx(self, op: OpBuilder, x: ir.Value) -> ir.Value:
        return op.Add(x, op.Slice(x, [0], [1], [0]))

    def formula(self, x: Floats) -> Floats:
        return x + x[:1]


@pytest.mark.parametrize(
    ("step", "shown"),
    [(Wrong(factor=3.0), "in case prompt-1-query"), (Neighbour(), "each text alone, in a batch")],
)
def test_every_route_is_proven(step: Step, shown: str, tmp_path: Path) -> None:
    """A fault of a route that calls without a prompt never take stops the bake."""
    route = Route(routes={"query": (step,), "document": ()}, default="document")
    source = open_source(write_bert(tmp_path / "model"))
    with pytest.raises(CheckFailed, match=shown):
        bake(source, [Pool(mode="mean"), route], tmp_path / "out.onnx", name="tiny")
    assert not (tmp_path / "out.onnx").exists()
