"""The contract of a model that takes routes."""

from __future__ import annotations

from pathlib import Path

import pytest
from onnxscript import OpBuilder, ir

from models.tiny_folders import write_bert
from models.tiny_onnx import write_encoder
from polybake.baking.bake import bake
from polybake.baking.routes import route_input, route_step, with_routes
from polybake.errors import CheckFailed, InputError
from polybake.modelfile.container import read_head
from polybake.runtime.self_check import self_check
from polybake.sources import open_source
from polybake.steps import Normalize, Pool, Route, Scale, Step, Tokens
from polybake.steps.step import Floats, Integers

ROUTE = Route(
    routes={"query": (Normalize(),), "document": (Scale(factor=2.0),)},
    default="document",
    prompts={"passage": "document"},
)


def test_every_route_can_be_named() -> None:
    """A route that no prompt takes gets an empty prompt of its name."""
    assert with_routes({}, ROUTE) == {"query": "", "document": ""}
    assert with_routes({"passage": "p: "}, ROUTE) == {"passage": "p: ", "query": ""}
    assert with_routes({"query": "q: "}, None) == {"query": "q: "}


def test_values_are_numbers_of_routes() -> None:
    """Each prompt takes its route; calls without a prompt, and other prompts, the default."""
    prompts = {"query": "", "passage": "p: ", "other": "o: "}
    one = route_input(prompts, None, ROUTE)
    assert (one.name, one.feed) == ("route", "prompt_value")
    assert one.values == {"": 1, "query": 0, "passage": 1, "other": 1}


def test_default_prompt_takes_the_default_route() -> None:
    """sentence-transformers would take the prompt's text and the default route."""
    assert route_input({"passage": "p: "}, "passage", ROUTE).values[""] == 1
    with pytest.raises(InputError, match="'query' takes route 'query', and the default route"):
        route_input({"query": ""}, "query", ROUTE)


def test_refuses_two_route_steps() -> None:
    """One number cannot say two things."""
    with pytest.raises(InputError, match="steps: 2 are route steps; put their routes into one"):
        route_step([ROUTE, Normalize(), ROUTE])


def test_is_fed_beside_the_prompt_s_length(tmp_path: Path) -> None:
    """A model may take both values of a prompt, and every route is proven."""
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
    assert self_check(report.path) < 1e-6


def test_routes_follow_an_export(tmp_path: Path) -> None:
    """An .onnx encoder may be continued by routes, at its own opset."""
    path = write_encoder(tmp_path / "model")
    steps: list[Step] = [Pool(mode="mean"), ROUTE]
    report = bake(open_source(path), steps, tmp_path / "out.onnx", name="tiny")
    assert report.manifest.opset == 12
    assert self_check(report.path) < 1e-6


class Wrong(Scale):
    """Its NumPy form is another one."""

    def numpy(self, x: Floats, tokens: Tokens[Integers]) -> Floats:
        return 2 * super().numpy(x, tokens)


class Neighbour(Step):
    """Adds the first text of a batch to every one."""

    name = "neighbour"

    def build(self, op: OpBuilder, x: ir.Value, _tokens: Tokens[ir.Value]) -> ir.Value:
        return op.Add(x, op.Slice(x, [0], [1], [0]))

    def numpy(self, x: Floats, _tokens: Tokens[Integers]) -> Floats:
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
