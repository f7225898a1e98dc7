"""Steps as ONNX functions: the same numbers, readable names, valid everywhere."""

import itertools
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import pytest

from models.bake import bake
from models.folders.tiny_folders import write_bert
from models.onnx.tiny_onnx import encoder, write_encoder
from polybake.baking.recipe.resolve import resolve
from polybake.baking.sources import open_source
from polybake.baking.steps.onnx_fragment import Fragment
from polybake.base.modelfile.container import read_head
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


def vectors(path: Path) -> list[object]:
    return [case.embeddings for case in read_head(path).fixture.cases]


def test_gives_the_same_vectors_in_one_node_a_step(baked: tuple[Path, Path]) -> None:
    """Every golden vector of every case is equal, bit for bit; the checker takes the file."""
    flat, folded = (vectors(path) for path in baked)
    assert len(flat) > 20
    assert folded == flat
    model = onnx.load(baked[1])
    onnx.checker.check_model(model, full_check=True)
    calls = [node for node in model.graph.node if node.domain == "polybake.steps"]
    assert len(calls) == len(SPECS) - 1  # dropout is none
    for before, after in itertools.pairwise(calls):
        assert after.input[0] == before.output[0]
    assert calls[-1].output[0] == model.graph.output[0].name
    held = {tensor.name for tensor in model.graph.initializer}
    assert held <= {name for node in model.graph.node for name in node.input}


FRAGMENT_OF_ITS_OWN = Fragment.of(
    "head.onnx",
    onnx.parser.parse_model("""
        <ir_version: 8, opset_import: ["" : 18]>
        head (float[N, 12] x) => (float[N, 12] y) { y = Tanh (x) }
    """),
)
ROUTES: dict[str, tuple[Step, ...]] = {"a": (LeaveOut(ids=(5,)),), "b": (Scale(factor=2.5),)}


@pytest.mark.parametrize(
    ("steps", "names"),
    [
        (
            [Pool(mode="mean"), Truncate(dimension=8), Quantize(precision="binary")],
            ["Pool", "Truncate", "Quantize"],
        ),
        ([LeaveOut(ids=(7,)), Pool(mode="mean")], ["Pool"]),
        (
            [Pool(mode="mean"), *([OnnxFragment(file=FRAGMENT_OF_ITS_OWN)] * 3)],
            ["Pool", "OnnxFragment", "OnnxFragment_2", "OnnxFragment_3"],
        ),
        (
            [Route(routes=ROUTES, default="b"), Pool(mode="mean"), Normalize()],
            ["Pool", "Normalize"],
        ),
    ],
    ids=["quantized", "tokens left out", "one name thrice", "routes"],
)
def test_steps_that_are_functions(steps: Sequence[Step], names: list[str], tmp_path: Path) -> None:
    """Not those that tell the next one more; golden cases find the edges of integers."""
    source = open_source(write_bert(tmp_path / "model"))
    for functions in (False, True):
        out = tmp_path / f"{functions}.onnx"
        bake(source, steps, out, name="tiny", functions=functions)
    assert vectors(tmp_path / "True.onnx") == vectors(tmp_path / "False.onnx")
    assert [function.name for function in onnx.load(out).functions] == names


def test_of_an_old_onnx_file(tmp_path: Path) -> None:
    """A file of an IR version without functions is raised to one that has them."""
    model = encoder()
    model.ir_version = 6
    source = open_source(write_encoder(tmp_path / "model", model))
    steps = [Pool(mode="mean"), Subtract(vector=np.ones(6, np.float32)), Normalize()]
    flat = bake(source, steps, tmp_path / "flat.onnx", name="tiny").path
    folded = bake(source, steps, tmp_path / "folded.onnx", name="tiny", functions=True).path
    assert (onnx.load(flat).ir_version, onnx.load(folded).ir_version) == (7, 8)
    assert vectors(flat) == vectors(folded)
