"""The boxes of a picture: nodes put together by namespace, few, and none that depends on itself."""

from __future__ import annotations

import numpy as np
import pytest
from onnxscript import ir

from models.bake import bake
from models.folders.tiny_folders import write_bert
from polybake.baking.sources import open_source
from polybake.steps import Dropout, Normalize, Pool, Subtract
from polybake.study.inspect.boxes import Box, Picture, picture_of, shape_text
from polybake.study.inspect.graph import read_graph
from polybake.study.inspect.grouping import Group, group_nodes, step_index


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


HEADER = '<ir_version: 8, opset_import: ["" : 18]>\n'


def groups_of(text: str) -> list[Group]:
    return list(dict.fromkeys(group_nodes(ir.from_onnx_text(HEADER + text).graph).values()))


def shown(groups: list[Group]) -> list[tuple[str, int, int]]:
    return [("/".join(group.path), len(group.nodes), group.times) for group in groups]


#: Nodes of which each reads the one before, and their groups with how many layers each stands for.
CHAINS = {
    "equal layers are one group, another one is by itself": (
        "embed/Tanh e/layer.0/Relu e/layer.1/Relu e/layer.2/Neg pooler/Tanh",
        [("embed", 1, 1), ("e/layer", 2, 2), ("e/layer.2", 1, 1), ("pooler", 1, 1)],
    ),
    "layers of several nodes": (
        "layer.0/one/Relu layer.0/two/Neg layer.1/one/Relu layer.1/two/Neg",
        [("layer", 4, 2)],
    ),
    "a number that tells operators apart is no layer": (
        "blocks/0/Relu blocks/1/Relu sum_1/Neg sum_2/Neg",
        [("blocks", 2, 2), ("sum_1", 1, 1), ("sum_2", 1, 1)],
    ),
    "modules of a sequence are no layers, those within one are": (
        "0/model/Tanh 0/model/layer.0/Relu 0/model/layer.1/Relu 1/Neg 2/Neg",
        [("0", 1, 1), ("0/model/layer", 2, 2), ("1", 1, 1), ("2", 1, 1)],
    ),
    "layers with another module between would depend on themselves": (
        "layers.0/Relu between/Tanh layers.1/Relu",
        [("layers.0", 1, 1), ("between", 1, 1), ("layers.1", 1, 1)],
    ),
    "only layers that follow each other are a group": (
        "layers.0/Relu layers.1/Relu between/Tanh layers.2/Relu layers.3/Relu",
        [("layers", 2, 2), ("between", 1, 1), ("layers", 2, 2)],
    ),
    "equal steps are not joined": (
        "steps.0/Relu steps.1/Relu",
        [("steps.0", 1, 1), ("steps.1", 1, 1)],
    ),
    "nodes of no namespace": ("Relu Tanh Neg", [("", 1, 1)] * 3),
}


@pytest.mark.parametrize("case", CHAINS)
def test_groups_of_a_chain(case: str) -> None:
    nodes, expected = CHAINS[case]
    lines, value = [], "x"
    for number, name in enumerate(nodes.split()):
        named = f'["{name}"] ' if "/" in name else ""
        lines.append(f"{named}v{number} = {name.rpartition('/')[2]} ({value})")
        value = f"v{number}"
    body = "\n".join([*lines, f"y = Identity ({value})"])
    *groups, _ = groups_of(f"g (float[N] x) => (float[N] y) {{ {body} }}")
    assert shown(groups) == expected
    if case.startswith("equal steps"):
        assert [step_index(group.path) for group in groups] == [0, 1]


def test_a_namespace_that_is_left_and_entered_again_is_two_groups() -> None:
    """The nodes of one namespace are apart where another one lies between them."""
    text = """
        g (float[N] x) => (float[N] y) {
            [first] a = Relu (x)
            ["inner/Tanh"] b = Tanh (a)
            [side] c = Neg (x)
            [last] y = Add (b, c)
        }"""
    groups = groups_of(text)
    assert [[node.name for node in group.nodes] for group in groups] == [
        ["first", "side"],
        ["inner/Tanh"],
        ["last"],
    ]


def test_what_a_subgraph_reads_counts() -> None:
    """A value that only a branch of an If reads leads to the If's group."""
    text = """
        g (bool c, float[N] x) => (float[N] y) {
            ["one/Relu"] a = Relu (x)
            ["two/Tanh"] b = Tanh (a)
            ["one/If"] y = If (c) <
                then_branch = t () => (float[N] p) { p = Neg (b) },
                else_branch = e () => (float[N] q) { q = Neg (x) }
            >
        }"""
    assert shown(groups_of(text)) == [("one", 1, 1), ("two", 1, 1), ("one", 1, 1)]
