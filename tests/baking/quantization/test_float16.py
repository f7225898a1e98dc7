"""Whole models in float16."""

from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import onnxruntime as ort
import pytest
from onnxscript import ir

from models.bake import bake
from models.folders.drawn import STEPS, InPrecision, bake_drawn, drawn_weights, write_drawn
from models.folders.tiny_folders import VOCABULARY, write_tokenizer, write_two_encoders
from polybake.baking.golden.golden import cases_for, make_fixture
from polybake.baking.quantization.float16 import largest_values
from polybake.baking.quantization.narrow_nodes import NarrowNodes
from polybake.baking.recipe.resolve import resolve
from polybake.baking.sources import open_source
from polybake.base.modelfile.container import read_head
from polybake.base.modelfile.fixture import decode_slack, decode_vectors
from polybake.base.modelfile.tolerance import Slack, Tolerance, compare_vectors
from polybake.runtime.embedder import Embedder
from polybake.runtime.feeds import feeds
from support.samples.drawn_kinds import EVERY
from support.samples.weekly import weekly_but

pytestmark = pytest.mark.slow

#: Operators whose results are float32.
WIDE = ("Softmax", "LayerNormalization", "ReduceMean", "Sqrt", "Cos", "Sin", "Sum")
FLOAT, FLOAT16 = onnx.TensorProto.FLOAT, onnx.TensorProto.FLOAT16


def types(path: Path) -> dict[str, set[tuple[str, int]]]:
    """The operators of a file and what they give, by the first part of their namespace."""
    model = onnx.shape_inference.infer_shapes(onnx.load(path), strict_mode=True)
    graph = model.graph
    known = {one.name: one.type.tensor_type.elem_type for one in (*graph.value_info, *graph.output)}
    found: dict[str, set[tuple[str, int]]] = {"encoder": set(), "steps": set()}
    for node in graph.node:
        (space,) = [one.value for one in node.metadata_props if one.key == "namespace"] or [""]
        part = "steps" if space.startswith("steps.") else "encoder"
        found[part].add((node.op_type, known[node.output[0]]))
    return found


@pytest.mark.parametrize("kind", weekly_but(1, EVERY))
def test_matmuls_are_narrow_and_the_rest_is_not(in_precision: InPrecision, kind: str) -> None:
    """Norms, softmax, rotary turns, residual sums and all steps are float32."""
    report = in_precision(kind, "float16")
    found = types(report.path)
    assert {type_ for name, type_ in found["encoder"] if name == "MatMul"} == {FLOAT16}
    wide = {type_ for name, type_ in found["encoder"] if name in WIDE}
    assert wide == {FLOAT}
    assert not {name for name, type_ in found["steps"] if type_ == FLOAT16}
    graph = onnx.load(report.path).graph
    assert [one.type.tensor_type.elem_type for one in graph.output] == [FLOAT]
    large = {one.data_type for one in graph.initializer if np.prod(one.dims) >= 1 << 14}
    assert large == {FLOAT16}
    assert report.manifest.storage == "float16"
    assert report.manifest.deviation is not None
    assert 1e-6 < report.manifest.deviation.max_abs < 1e-2


def rounded_at_each_node(path: Path) -> ort.InferenceSession:
    """An exact file in which every value of a narrow node is rounded, as a GPU does."""
    model = ir.load(path)
    for node in NarrowNodes(model.graph).nodes:
        for value in node.outputs:
            narrow = ir.node("Cast", [value], {"to": ir.DataType.FLOAT16})
            wide = ir.node("Cast", narrow.outputs, {"to": ir.DataType.FLOAT})
            value.replace_all_uses_with(wide.outputs[0])
            narrow.replace_input_with(0, value)
            model.graph.insert_after(node, [narrow, wide])
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    return ort.InferenceSession(ir.to_proto(model).SerializeToString(), options)


@pytest.mark.parametrize("kind", weekly_but(1, EVERY))
def test_there_is_room_for_rounding_at_every_node(
    in_precision: InPrecision, texts: list[str], kind: str
) -> None:
    """A runtime on a CPU keeps numbers wide between nodes; a GPU, which does not, passes."""
    narrow, exact = (Embedder(in_precision(kind, one).path) for one in ("float16", "float32"))
    found, expected = narrow.embed(texts), exact.embed(texts)
    assert compare_vectors(expected, found, narrow.head.fixture.tolerances["cpu"]) is None
    assert np.abs(found - expected).max() > 1e-6
    session = rounded_at_each_node(exact.path)
    for text, vector in zip(texts, found, strict=True):
        (row,) = narrow.runner.ids([text])
        fed = feeds(narrow.head.manifest.contract, [row])
        (rounded,) = session.run(["sentence_embedding"], fed)
        tolerance = narrow.head.fixture.tolerances["cuda"]
        assert compare_vectors(vector[np.newaxis], rounded, tolerance) is None


def test_sums_may_leave_float16s_range(texts: list[str], tmp_path: Path) -> None:
    """Residual sums and the squares of norms are float32, because T5's leave float16's range."""
    weights = drawn_weights("t5")
    changes = {"shared.weight": weights["shared.weight"]}
    changes["shared.weight"][:, 0] = 6e4
    for block in (0, 1):
        name = f"encoder.block.{block}.layer.1.DenseReluDense.wo.weight"
        changes[name] = weights[name]
        changes[name][0] = 300  # of what is at least 0
    report = bake_drawn(tmp_path, "t5", changes, precision="float16")
    exact = bake_drawn(tmp_path / "exact", "t5", changes)
    model = ir.load(exact.path)
    contract = exact.manifest.contract
    sums = [
        node.outputs[0]
        for node in model.graph
        if node.op_type == "Add" and node.metadata_props["namespace"].endswith(": Block")
    ]
    assert len(sums) == 4
    ids = Embedder(exact.path).runner.ids(texts[:3])
    assert max(largest_values(model, sums[1::2], contract, ids, tmp_path)) > 65504
    assert report.manifest.deviation is not None
    assert report.manifest.deviation.min_cosine > 0.9999


def test_what_is_exposed_stays_float32(in_precision: InPrecision, tmp_path: Path) -> None:
    """An output has the type that it has in the exact graph."""
    exact = onnx.load(in_precision("bert", "float32").path)
    matmuls = [node.output[0] for node in exact.graph.node if node.op_type == "MatMul"]
    report = bake_drawn(tmp_path, "bert", precision="float16", expose=matmuls[:1])
    outputs = onnx.load(report.path).graph.output
    assert [one.name for one in outputs][1:] == matmuls[:1]
    assert {one.type.tensor_type.elem_type for one in outputs} == {FLOAT}
    Embedder(report.path).embed(["the river"])


def test_encoders_of_routes_are_narrow_within_their_branches(
    texts: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every branch gives float32, whichever is taken."""
    monkeypatch.setattr("polybake.baking.quantization.matmuls._SMALLEST", 1)
    source = open_source(write_two_encoders(tmp_path / "model"))
    steps = resolve(source.recipe, base=tmp_path, source=source)
    paths = []
    for precision in ("float16", "float32"):
        out = tmp_path / f"{precision}.onnx"
        paths.append(bake(source, steps, out, name="tiny", precision=precision).path)
    (choice,) = [one for one in onnx.load(paths[0]).graph.node if one.op_type == "If"][:1]
    for branch in choice.attribute:
        kinds = [node.op_type for node in branch.g.node]
        assert kinds.count("Cast") > kinds.count("Softmax") > 0
    narrow, exact = map(Embedder, paths)
    for prompt in ("query", "document"):
        found, expected = (one.embed(texts[:5], prompt=prompt) for one in (narrow, exact))
        tolerance = Tolerance(max_abs=5e-2, one_minus_cosine=1e-3)
        assert compare_vectors(expected, found, tolerance) is None
        assert np.abs(found - expected).max() > 1e-6


@pytest.mark.parametrize("opset", [14, 21])
def test_exports_of_other_tools(opset: int, texts: list[str], tmp_path: Path) -> None:
    """Graphs of other exporters, whose constants are nodes, are narrowed too."""
    folder = tmp_path / "onnx"
    folder.mkdir()
    weight, rows = np.random.default_rng(2).normal(0, 0.1, (2, 128, 128)).astype(np.float32)
    model = onnx.parser.parse_model(f"""
        <ir_version: 8, opset_import: ["" : {opset}]>
        network (int64[b, s] input_ids, int64[b, s] attention_mask)
            => (float[b, s, 128] last_hidden_state)
        {{
            rows = Gather (table, input_ids)
            matmul = MatMul (rows, weight)
            half = Constant <value = float {{0.5}}> ()
            scaled = Mul (matmul, half)
            bent = Tanh (scaled)
            last_hidden_state = Add (bent, rows)
        }}
    """)
    table = rows[: len(VOCABULARY)]
    model.graph.initializer.extend(
        onnx.numpy_helper.from_array(array, name)
        for name, array in (("table", table), ("weight", weight))
    )
    onnx.save(model, folder / "model.onnx")
    write_tokenizer(folder)
    source = open_source(folder / "model.onnx")
    steps = resolve(STEPS[:1], base=tmp_path, source=source)
    report = bake(source, steps, tmp_path / "out.onnx", name="tiny", precision="float16")
    expected = {("MatMul", FLOAT16), ("Mul", FLOAT16), ("Tanh", FLOAT16), ("Add", FLOAT)}
    assert expected <= types(report.path)["encoder"]
    embedder = Embedder(report.path)
    for text in texts[:5]:
        (ids,) = embedder.runner.ids([text])
        moved = np.abs(embedder.embed([text])[0] - formula(table, weight, list(ids))).max()
        assert 0 < moved < 1e-3


def formula(table: np.ndarray, weight: np.ndarray, ids: list[int]) -> np.ndarray:
    """The network's mean, each float16 number rounded once."""

    def half(x: np.ndarray) -> np.ndarray:
        return x.astype(np.float16).astype(np.float64)

    rows = half(table)[ids]
    bent = half(np.tanh(half(half(rows @ half(weight)) * 0.5)))
    mean: np.ndarray = (bent + rows).mean(axis=0)
    return mean


def test_integers_are_granted_what_their_floats_are(tmp_path: Path) -> None:
    """Both integers are right if float16 moves a value over the edge between them."""
    ranges = np.stack([np.full(128, -0.3), np.full(128, 0.3)]).astype(np.float32)
    np.save(tmp_path / "ranges.npy", ranges)
    specs = [*STEPS, {"step": "quantize", "precision": "int8", "ranges": "ranges.npy"}]
    reports = []
    for precision in ("float16", "float32"):
        source = open_source(write_drawn(tmp_path / precision, "bert"))
        steps = resolve(specs, base=tmp_path, source=source)
        out = tmp_path / f"{precision}.onnx"
        reports.append(bake(source, steps, out, name="tiny", precision=precision))
    narrow, exact = (read_head(report.path).fixture for report in reports)
    slacks = [
        Slack.of_rows([decode_slack(one.embeddings) for one in each.cases])
        for each in (narrow, exact)
    ]
    assert slacks[0] is not None
    assert slacks[1] is not None
    assert slacks[0].values.mean() > 5 * slacks[1].values.mean()
    for mine, theirs in zip(narrow.cases, exact.cases, strict=True):
        slack = decode_slack(mine.embeddings)
        vectors = decode_vectors(mine.embeddings), decode_vectors(theirs.embeddings)
        assert slack is not None
        assert not slack.exceeded(*vectors).any()
    assert reports[0].manifest.deviation is not None
    assert reports[0].manifest.deviation.max_abs < 1e-2
    made = make_fixture(reports[0].path, cases_for(reports[0].path))
    assert made.tolerances == narrow.tolerances != exact.tolerances
