"""An ONNX file as a step: its numbers, its names, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import pytest
from numpy.typing import NDArray

from models.bake import bake
from models.folders.tiny_folders import write_bert
from models.onnx.tiny_onnx import encoder, write_encoder
from polybake.baking.assemble.fold import fold
from polybake.baking.graph.check import check_graph
from polybake.baking.recipe.resolve import resolve
from polybake.baking.sources import open_source
from polybake.baking.steps.onnx_fragment import Fragment
from polybake.base.modelfile.container import read_head
from polybake.base.modelfile.fixture import decode_vectors
from polybake.errors import InputError
from polybake.steps import Normalize, OnnxFragment, Pool

RANDOM = np.random.default_rng(21)
X = RANDOM.normal(size=(3, 7)).astype(np.float32)
MASK = np.ones((3, 2), np.int64)
WEIGHT = RANDOM.normal(size=(7, 5)).astype(np.float32)

LAYER = "h = MatMul (x, w)  y = Tanh (h)"

#: The sum's axes are an attribute before opset 13 and an input from there on.
SOFTMAX = {
    11: "e = Exp (x)  s = ReduceSum <axes = [1], keepdims = 1> (e)  y = Div (e, s)",
    13: "e = Exp (x)  a = Constant <value_ints = [1]> ()  s = ReduceSum (e, a)  y = Div (e, s)",
}


def fragment(
    body: str,
    *,
    inputs: str = "float[N, 7] x",
    outputs: str = "float[N, 5] y",
    opset: int = 18,
    weights: dict[str, NDArray[np.float32]] | None = None,
    domains: str = "",
    functions: str = "",
) -> onnx.ModelProto:
    """Parse a fragment and give it its weights."""
    model = onnx.parser.parse_model(
        f'<ir_version: 8, opset_import: ["" : {opset}{domains}]>\n'
        f"head ({inputs}) => ({outputs}) {{{body}}}\n{functions}"
    )
    for name, array in (weights or {}).items():
        model.graph.initializer.append(onnx.numpy_helper.from_array(array, name))
    return model


def step(body: str, **options: object) -> OnnxFragment:
    return OnnxFragment(file=Fragment.of("head.onnx", fragment(body, **options)))  # type: ignore[arg-type]


def layer(**options: object) -> OnnxFragment:
    return step(LAYER, weights={"w": WEIGHT}, **options)


def test_computes_what_the_file_does(run_step, opset: int) -> None:
    """A layer with weights gives its formula at every opset, and in the form for the proof."""
    expected = np.tanh(X.astype(np.float64) @ WEIGHT)
    assert run_step(layer(opset=opset), X, MASK, opset) == pytest.approx(expected, abs=1e-6)
    assert layer(opset=opset).formula(X) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("own", [11, 26])
def test_operators_that_only_learned_types_go_anywhere(run_step, opset: int, own: int) -> None:
    """Operators with one meaning in both opsets are not converted, so older opsets work, too."""
    more = "h = MatMul (x, w)  a = Add (h, h)  r = Relu (a)  y = Div (r, two)"
    two = np.array(2, np.float32)
    moved = step(more, opset=own, weights={"w": WEIGHT, "two": two})
    assert run_step(moved, X, MASK, opset) == pytest.approx(np.maximum(X @ WEIGHT, 0), abs=1e-5)


@pytest.mark.parametrize("own", SOFTMAX)
def test_takes_the_graph_s_opset(run_step, own: int) -> None:
    """Inputs and attributes of operators change from opset to opset; the numbers do not."""
    expected = np.exp(X) / np.exp(X).sum(axis=1, keepdims=True)
    softmax = step(SOFTMAX[own], opset=own, outputs="float[N, 7] y")
    for opset in (own, 13, 18, 22):
        assert run_step(softmax, X, MASK, opset) == pytest.approx(expected, abs=1e-6)


def test_functions_and_branches(run_step) -> None:
    """Functions of the file's own are written out, and what a branch takes from outside stays."""
    body = """
        total = ReduceSum <keepdims = 0> (x)
        positive = Greater (total, zero)
        h = If (positive) <
            then_branch = then () => (float[N, 5] t) { t = MatMul (x, w) },
            else_branch = other () => (float[N, 5] e) { m = MatMul (x, w)  e = Neg (m) }
        >
        y = own.twice (h)
    """
    twice = '<domain: "own", opset_import: ["" : 18]> twice (a) => (b) { b = Add (a, a) }'
    zero = np.array(0, np.float32)
    both = step(body, weights={"w": WEIGHT, "zero": zero}, domains=', "own" : 1', functions=twice)
    for x in (X, -X, np.abs(X)):
        expected = 2 * np.sign(x.sum()) * (x @ WEIGHT)
        assert run_step(both, x, MASK) == pytest.approx(expected, abs=1e-5)


def test_old_files_list_weights_as_inputs(run_step) -> None:
    """An initializer that is also an input is a weight, which nobody feeds."""
    old = layer(inputs="float[N, 7] x, float[7, 5] w")
    assert run_step(old, X, MASK) == pytest.approx(np.tanh(X @ WEIGHT), abs=1e-6)


def test_names_stay_apart(tmp_path: Path) -> None:
    """Two fragments whose names are those of the encoder and of each other are one valid graph."""
    body = """
        input_ids = MatMul (x, table)
        sentence_embedding = Tanh (input_ids)
    """
    square = RANDOM.normal(size=(12, 12)).astype(np.float32)
    one = step(
        body,
        inputs="float[N, 12] x",
        outputs="float[N, 12] sentence_embedding",
        weights={"table": square},
    )
    source = open_source(write_bert(tmp_path))
    graph = source.encoder.place()
    steps = [Pool(mode="mean"), one, one]
    assert fold(steps, graph).output.dimension == 12
    check_graph(graph.model)
    carried = [name for name in graph.model.graph.initializers if name.endswith("table")]
    assert carried == ["steps.1.table", "steps.2.table"]


def test_is_baked(tmp_path: Path) -> None:
    """Vectors of a baked model are those without the step, sent through the layer in NumPy."""
    source = open_source(write_encoder(tmp_path / "model", encoder(opset=12)))
    weight = RANDOM.normal(size=(6, 5)).astype(np.float32)
    model = fragment(LAYER, inputs="float[N, 6] x", opset=13, weights={"w": weight})
    onnx.save(model, tmp_path / "head.onnx")
    specs = [{"step": "pool", "mode": "mean"}, {"step": "onnx", "file": "head.onnx"}]
    steps = resolve([*specs, {"step": "normalize"}], base=tmp_path, source=source)
    report = bake(source, steps, tmp_path / "out.onnx", name="tiny")
    assert report.manifest.steps[1] == "onnx(file=head.onnx)"
    before = bake(source, steps[:1], tmp_path / "plain.onnx", name="tiny").path
    cases = zip(read_head(report.path).fixture.cases, read_head(before).fixture.cases, strict=True)
    for found, pooled in cases:
        expected = np.tanh(decode_vectors(pooled.embeddings).astype(np.float64) @ weight)
        expected = Normalize().formula(expected)
        assert decode_vectors(found.embeddings) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize(
    ("model", "shown"),
    [
        (
            fragment("y = Softmax (x)", inputs="float[N, 5] x", domains=', "ai.onnx" : 11'),
            "at the opsets [0-9]+ and 11",
        ),
        (fragment("y = Relu (x)", opset=27), "has opset 27, expected 1 to 26;"),
        (fragment("y = Relu (x)", inputs="float[N, M] x", outputs="float[N, M] y"), r"\[N,M\]"),
        (fragment("y = Relu (x)", inputs="float[7] x", outputs="float[7] y"), r"x FLOAT \[7\]"),
        (
            fragment("y = Relu (x)", inputs="double[N, 7] x", outputs="double[N, 7] y"),
            "takes x DOUBLE",
        ),
        (
            fragment("y = Add (x, z)", inputs="float[N, 5] x, float[N, 5] z"),
            r"takes x FLOAT \[N,5\], z FLOAT \[N,5\] and gives y FLOAT",
        ),
        (
            fragment("y = Relu (x) z = Neg (x)", outputs="float[N, 7] y, float[N, 7] z"),
            r"gives y FLOAT \[N,7\], z FLOAT \[N,7\]; expected one",
        ),
    ],
)
def test_refuses_what_is_no_step(model: onnx.ModelProto, shown: str, tmp_path: Path) -> None:
    """A file with other inputs, outputs or operators is an error with its key and what it has."""
    onnx.save(model, tmp_path / "head.onnx")
    source = open_source(write_bert(tmp_path / "model"))
    with pytest.raises(InputError, match=rf"^steps\[0\]\.file: .*head\.onnx .*{shown}.*export it"):
        resolve([{"step": "onnx", "file": "head.onnx"}], base=tmp_path, source=source)


def split(model: onnx.ModelProto, path: Path) -> None:
    """Save with the weights in a file beside it."""
    options = {"save_as_external_data": True, "size_threshold": 0}
    onnx.save(model, path, location=f"{path.stem}.data", **options)


def test_takes_weights_beside_the_file(run_step, tmp_path: Path) -> None:
    """Weights in another file become part of the graph like any."""
    split(fragment(LAYER, weights={"w": WEIGHT}), tmp_path / "head.onnx")
    source = open_source(write_bert(tmp_path / "model"))
    (head,) = resolve([{"step": "onnx", "file": "head.onnx"}], base=tmp_path, source=source)
    assert run_step(head, X, MASK) == pytest.approx(np.tanh(X @ WEIGHT), abs=1e-6)
    assert head.formula(X) == pytest.approx(np.tanh(X @ WEIGHT), abs=1e-6)


def test_refuses_files_that_cannot_be_read(tmp_path: Path) -> None:
    """Half a file, no file, and weights without data are errors by key."""
    source = open_source(write_bert(tmp_path / "model"))
    model = fragment(LAYER, weights={"w": WEIGHT})
    (tmp_path / "half.onnx").write_bytes(model.SerializeToString()[:-9])
    split(model, tmp_path / "split.onnx")
    (tmp_path / "split.data").unlink()
    for spec, shown in (
        ({"file": "half.onnx"}, r"file: .*half\.onnx: is not a whole ONNX file"),
        ({"file": "split.onnx"}, r"file: .*split\.onnx: weight 'w' lies in 'split\.data'"),
        ({"file": 3}, "file: expected a path, found 3"),
        ({}, "file: is missing; add it"),
    ):
        with pytest.raises(InputError, match=rf"^steps\[0\]\.{shown}"):
            resolve([{"step": "onnx", **spec}], base=tmp_path, source=source)


def test_names_both_sizes(run_step) -> None:
    """An embedding of another size, and tokens, are errors with what was given."""
    with pytest.raises(InputError, match=r"head\.onnx takes 7 elements and the embedding has 6"):
        run_step(layer(), X[:, :6], MASK)
    with pytest.raises(InputError, match=r"is given FLOAT \[batch,sequence,7\]; put it after"):
        run_step(layer(), np.stack([X, X]), np.ones((2, 3), np.int64))
