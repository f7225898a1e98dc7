"""Steps as ONNX functions: the same numbers, readable names, valid everywhere."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import pytest

from models.folders.tiny_folders import CONFIG, write_bert
from models.onnx.tiny_onnx import encoder, write_encoder
from polybake.baking.bake import bake
from polybake.baking.recipe.resolve import resolve
from polybake.baking.sources import open_source
from polybake.baking.steps.onnx_fragment import Fragment
from polybake.base.modelfile.container import read_head
from polybake.runtime.embedder import Embedder
from polybake.steps import (
    LeaveOut,
    Normalize,
    OnnxFragment,
    Pool,
    Quantize,
    Route,
    Scale,
    Step,
    Subtract,
    Truncate,
    WordWeights,
)

RANDOM = np.random.default_rng(31)

#: A step of operators that hold graphs, which read a value from around them.
BRANCHING = """
from onnxscript import ir

def step(op, embedding, limit):
    largest = op.ReduceMax(op.Abs(embedding), keepdims=0)
    floats = [ir.val("chosen", ir.DataType.FLOAT, ["batch", embedding.shape[1]])]
    small = op.builder.subgraph(lambda inner: inner.Mul(embedding, 3.0), [], floats)
    floats = [ir.val("chosen", ir.DataType.FLOAT, ["batch", embedding.shape[1]])]
    large = op.builder.subgraph(lambda inner: inner.Sub(embedding, 0.25), [], floats)
    y = op.If(op.Less(largest, limit), then_branch=small, else_branch=large)
    y.dtype, y.shape = ir.DataType.FLOAT, embedding.shape
    return y
"""

FRAGMENT = """
<ir_version: 8, opset_import: ["" : 18]>
head (float[N, 5] x) => (float[N, 4] y) {
    h = MatMul (x, w)
    zero = Constant <value = float {0.0}> ()
    positive = Greater (h, zero)
    y = Where (positive, h, zero)
}
"""

SPECS: list[dict[str, object]] = [
    {"step": "pool", "mode": ["mean", "lasttoken"]},
    {"step": "dropout"},
    {"step": "subtract", "vector": "row24.npy"},
    {"step": "dense", "weight": "w7x24.npy", "bias": "row7.npy", "activation": "gelu"},
    {"step": "layer_norm"},
    {"step": "python", "file": "own.py", "parameters": {"limit": 1.5}},
    {"step": "whiten", "mean": "row7.npy", "matrix": "w7x7.npy"},
    {"step": "dense", "weight": "w5x7.npy", "activation": "tanh"},
    {"step": "onnx", "file": "head.onnx"},
    {"step": "scale", "factor": 1.5},
    {"step": "truncate", "dimension": 3, "renormalize": True},
]

NAMES = [
    "Pool",
    "Subtract",
    "Dense",
    "LayerNorm",
    "PythonFile",
    "Whiten",
    "Dense_2",
    "OnnxFragment",
    "Scale",
    "Truncate",
]


@pytest.fixture(scope="module")
def baked(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """One recipe, baked flat and as functions."""
    folder = tmp_path_factory.mktemp("functions")
    for size in (24, 7):
        np.save(folder / f"row{size}.npy", RANDOM.normal(size=size).astype(np.float32))
    for out, into in ((7, 24), (7, 7), (5, 7)):
        matrix = RANDOM.normal(size=(out, into)).astype(np.float32)
        np.save(folder / f"w{out}x{into}.npy", matrix)
    (folder / "own.py").write_text(BRANCHING)
    model = onnx.parser.parse_model(FRAGMENT)
    weight = RANDOM.normal(size=(5, 4)).astype(np.float32)
    model.graph.initializer.append(onnx.numpy_helper.from_array(weight, "w"))
    onnx.save(model, folder / "head.onnx")
    source = open_source(write_bert(folder / "model"))
    flat, folded = folder / "flat.onnx", folder / "folded.onnx"
    for out, functions in ((flat, False), (folded, True)):
        steps = resolve(SPECS, base=folder, source=source)
        bake(source, steps, out, name="tiny", functions=functions)
    return flat, folded


def test_gives_the_same_vectors(baked: tuple[Path, Path]) -> None:
    """Every golden vector of every case is equal, bit for bit."""
    flat, folded = (read_head(path).fixture.cases for path in baked)
    assert len(flat) > 20
    assert [case.embeddings for case in folded] == [case.embeddings for case in flat]


def test_is_one_node_for_each_step(baked: tuple[Path, Path]) -> None:
    """The checker takes the file; the graph ends in calls, each continuing the one before."""
    model = onnx.load(baked[1])
    onnx.checker.check_model(model, full_check=True)
    calls = list(model.graph.node)[-len(NAMES) :]
    assert [node.op_type for node in calls] == NAMES
    assert {node.domain for node in calls} == {"polybake.steps"}
    assert sum(node.domain == "polybake.steps" for node in model.graph.node) == len(NAMES)
    for before, after in itertools.pairwise(calls):
        assert after.input[0] == before.output[0]
    assert calls[-1].output[0] == model.graph.output[0].name == "sentence_embedding"


def test_functions_name_what_they_take(baked: tuple[Path, Path]) -> None:
    """The result of the step before comes first, and weights have their parameters' names."""
    model = onnx.load(baked[1])
    taken = {function.name: list(function.input) for function in model.functions}
    assert taken["Pool"] == ["token_embeddings", "attention_mask"]
    assert taken["Dense"] == ["embedding", "weight", "bias"]
    assert taken["OnnxFragment"] == ["embedding", "w"]
    assert all(list(function.output) == ["result"] for function in model.functions)
    opsets = {one.domain: one.version for one in model.opset_import}
    assert opsets == {"": 18, "polybake.steps": 1}
    for function in model.functions:
        assert {one.domain: one.version for one in function.opset_import} == {"": 18}


def test_weights_stay_and_literals_move(baked: tuple[Path, Path]) -> None:
    """The graph holds each step's arrays, and no initializer that nothing reads."""
    model = onnx.load(baked[1])
    held = {tensor.name for tensor in model.graph.initializer}
    assert {"steps.3.weight", "steps.3.bias", "steps.8.w", "steps.2.vector"} <= held
    read = {name for node in model.graph.node for name in node.input}
    assert held <= read
    constants = [
        node.attribute[0].t
        for function in model.functions
        for node in function.node
        if node.op_type == "Constant"
    ]
    assert len(constants) > 5
    assert max(np.prod(tensor.dims) for tensor in constants) <= 3


def test_functions_hold_no_traces(baked: tuple[Path, Path]) -> None:
    """Nodes of functions keep their namespace and nothing else of the tool that made them."""
    model = onnx.load(baked[1])
    keys = {e.key for body in model.functions for node in body.node for e in node.metadata_props}
    assert keys == {"namespace"}


@pytest.mark.parametrize(
    "steps",
    [
        [Pool(mode="mean"), Normalize()],
        [Pool(mode="mean"), Subtract(vector=np.ones(6, np.float32)), Normalize()],
    ],
)
def test_of_an_old_onnx_file(steps: Sequence[Step], tmp_path: Path) -> None:
    """A file of an IR version without functions is raised to one that has them."""
    model = encoder()
    model.ir_version = 6
    source = open_source(write_encoder(tmp_path / "model", model))
    flat = bake(source, steps, tmp_path / "flat.onnx", name="tiny")
    folded = bake(source, steps, tmp_path / "folded.onnx", name="tiny", functions=True)
    assert (onnx.load(flat.path).ir_version, onnx.load(folded.path).ir_version) == (7, 8)
    assert [case.embeddings for case in read_head(flat.path).fixture.cases] == [
        case.embeddings for case in read_head(folded.path).fixture.cases
    ]


def test_names_differ_from_those_of_the_source(tmp_path: Path) -> None:
    """A source that holds such functions already keeps them beside the new ones."""
    text = """
        <ir_version: 8, opset_import: ["" : 18]>
        head (float[N, 12] x) => (float[N, 12] y) { y = Tanh (x) }
    """
    fragment = Fragment.of("head.onnx", onnx.parser.parse_model(text))
    steps = [Pool(mode="mean"), *([OnnxFragment(file=fragment)] * 3)]
    source = open_source(write_bert(tmp_path / "model"))
    report = bake(source, steps, tmp_path / "out.onnx", name="tiny", functions=True)
    names = [function.name for function in onnx.load(report.path).functions]
    assert names == ["Pool", "OnnxFragment", "OnnxFragment_2", "OnnxFragment_3"]


def test_of_a_quantized_model(tmp_path: Path) -> None:
    """The values that are quantized stay in the main graph, where golden cases find the edges."""
    source = open_source(write_bert(tmp_path))
    steps = [Pool(mode="mean"), Truncate(dimension=8), Quantize(precision="binary")]
    flat = bake(source, steps, tmp_path / "flat.onnx", name="tiny")
    made = bake(source, steps, tmp_path / "functions.onnx", name="tiny", functions=True)
    ours, theirs = (read_head(report.path).fixture.cases for report in (made, flat))
    assert [case.embeddings for case in ours] == [case.embeddings for case in theirs]


def test_a_step_that_tells_the_next_one_more_stays_flat(tmp_path: Path) -> None:
    """Word weights give the pooling their sum, too, which a function could not."""
    source = open_source(write_bert(tmp_path))
    weights = np.linspace(0.5, 2, CONFIG["vocab_size"], dtype=np.float32)
    steps = [WordWeights(weights=weights), LeaveOut(ids=(7,)), Pool(mode="mean")]
    flat = bake(source, steps, tmp_path / "flat.onnx", name="tiny")
    made = bake(source, steps, tmp_path / "functions.onnx", name="tiny", functions=True)
    ours, theirs = (read_head(report.path).fixture.cases for report in (made, flat))
    assert [case.embeddings for case in ours] == [case.embeddings for case in theirs]
    functions = onnx.load(made.path, load_external_data=False).functions
    assert [function.name for function in functions] == ["Pool"]


def test_literals_that_only_branches_read_stay(tmp_path: Path) -> None:
    """A route that tells the next steps something is no function, and its branches keep theirs."""
    source = open_source(write_bert(tmp_path / "model"))
    routes: dict[str, tuple[Step, ...]] = {"a": (LeaveOut(ids=(5,)),), "b": (Scale(factor=2.5),)}
    steps = [Route(routes=routes, default="b"), Pool(mode="mean"), Normalize()]
    found = []
    for functions in (False, True):
        out = tmp_path / f"{functions}.onnx"
        bake(source, steps, out, name="tiny", functions=functions)
        found.append(Embedder(out).embed(["the river", "water"], prompt="b"))
    assert found[0].tobytes() == found[1].tobytes()
    names = {node.op_type for node in onnx.load(out).graph.node}
    assert {"If", "Pool", "Normalize"} <= names
