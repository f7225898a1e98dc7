"""Whole models in float16, int8 and int4."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from onnxscript import ir

from models.folders.drawn import PRODUCTS, InPrecision, bake_drawn, drawn_weights
from models.formulas.four_bits_numpy import constants_of, weight_of, widened
from polybake.baking.quantization import int4, int8
from polybake.base.modelfile.container import read_head
from polybake.base.modelfile.manifest import Contract, Input, Output
from polybake.base.modelfile.tolerance import TOLERANCES, compare_vectors
from polybake.runtime.embedder import Embedder
from support.samples.drawn_kinds import EVERY
from support.samples.weekly import weekly_but

pytestmark = pytest.mark.slow

PROVIDERS = ["CPUExecutionProvider"]
OPERATORS = {"int8": "MatMulIntegerToFloat", "int4": "MatMulNBits", "float16": "MatMul"}
LEAST_COSINE = {"float16": 0.9999, "int8": 0.997, "int4": 0.9}
#: How far a vector may move in a batch: float16's own tolerance, and rounding alone.
MOVES = {"int8": 1e-6, "int4": 2e-6}


@pytest.mark.parametrize("kind", EVERY)
@pytest.mark.parametrize("precision", weekly_but(1, OPERATORS))
def test_every_architecture(
    in_precision: InPrecision, texts: list[str], kind: str, precision: str
) -> None:
    """Matmuls are narrow, vectors near float32's, and a text's is its own in every batch."""
    report = in_precision(kind, precision)
    kinds = Counter(node.op_type for node in onnx.load(report.path).graph.node)
    if precision != "float16":
        assert kinds[OPERATORS[precision]] == PRODUCTS[kind]
    deviation = report.manifest.deviation
    assert report.manifest.precision == precision
    assert deviation is not None
    assert LEAST_COSINE[precision] < deviation.min_cosine < 1
    embedder = Embedder(report.path)
    rows = embedder.runner.ids(texts)
    together = embedder.runner.vectors(rows, length=90)
    alone = np.concatenate([embedder.runner.vectors([row]) for row in rows])
    if precision == "float16":
        assert compare_vectors(alone, together, embedder.head.fixture.tolerances["cpu"]) is None
    else:
        assert np.abs(together - alone).max() < MOVES[precision]


@pytest.mark.parametrize("kind", weekly_but(1, EVERY))
def test_four_bits_are_the_weights(in_precision: InPrecision, kind: str) -> None:
    """The vectors are those of the weights that the file holds, in float32."""
    report = in_precision(kind, "int4")
    runner, model = Embedder(report.path).runner, onnx.load(report.path)
    wide = ort.InferenceSession(widened(model).SerializeToString(), providers=PROVIDERS)
    rows = [[5, 9, 30, 7], [6, 12]]
    found, expected = (one.vectors(rows) for one in (runner, replace(runner, session=wide)))
    assert np.abs(found - expected).max() < 2e-6


@pytest.mark.parametrize("precision", weekly_but(1, OPERATORS))
def test_it_is_the_same_file_at_each_bake(
    in_precision: InPrecision, tmp_path: Path, precision: str
) -> None:
    again = bake_drawn(tmp_path, "bert", precision=precision)
    assert again.path.read_bytes() == in_precision("bert", precision).path.read_bytes()


@pytest.mark.parametrize("precision", weekly_but(1, ["int8", "int4"]))
def test_own_texts_calibrate(in_precision: InPrecision, tmp_path: Path, precision: str) -> None:
    """A user's texts change the weights, and nothing of them is in the file."""
    own = tmp_path / "own.txt"
    own.write_text("the boat\na river of water\n")
    with_texts = bake_drawn(tmp_path, "bert", precision=precision, calibration=own)
    without = in_precision("bert", precision)
    assert with_texts.manifest.fingerprint != without.manifest.fingerprint
    assert b"a river of water" not in with_texts.path.read_bytes()


@pytest.mark.parametrize(
    ("module", "name", "off", "share"),
    weekly_but(
        1,
        [
            (int4, "_SMOOTHING", 0, 0.8),
            (int8, "smoothing", lambda largest, _: np.ones_like(largest), 0.5),
        ],
    ),
)
def test_inputs_that_are_large_in_every_text_cost_little(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    module: ModuleType,
    name: str,
    off: Any,
    share: float,
) -> None:
    """Three channels of each norm, 40 times as large as the others, as real models have them."""
    weights = {
        name: np.where(np.isin(np.arange(128), (3, 50, 101)), 40 * weight, weight)
        for name, weight in drawn_weights("modernbert").items()
        if weight.ndim == 1 and "norm" in name
    }
    precision = module.__name__.rpartition(".")[2]
    smoothed = bake_drawn(
        tmp_path / "smoothed", "modernbert", weights, precision=precision
    ).manifest.deviation
    monkeypatch.setattr(module, name, off)
    plain = bake_drawn(
        tmp_path / "plain", "modernbert", weights, precision=precision
    ).manifest.deviation
    assert smoothed is not None
    assert plain is not None
    assert 1 - smoothed.mean_cosine < share * (1 - plain.mean_cosine)


def test_int8_is_small_and_its_head_says_how_far_vectors_moved(in_precision: InPrecision) -> None:
    """Nodes are named after the module of their matmul, so that a profile is readable."""
    exact, report = in_precision("bert", "float32"), in_precision("bert", "int8")
    assert report.size < 0.45 * exact.size  # much of what is left is the head
    graph = onnx.load(report.path).graph
    assert (report.manifest.opset, onnx.load(report.path).ir_version) == (23, 11)
    kinds = Counter(node.op_type for node in graph.node)
    assert (kinds["Attention"], kinds["Softmax"]) == (2, 0)
    names = [node.name for node in graph.node]
    assert len(set(names)) == len(names)
    rounding = {node.name for node in graph.node if node.op_type == "QuantizeLinear"}
    assert all("/int8/" in name for name in rounding)
    assert any(name.startswith("encoder/layer.0/attention.self.") for name in rounding)
    deviation, tolerance = report.manifest.deviation, read_head(report.path).fixture.tolerances
    assert deviation is not None
    assert (exact.manifest.precision, exact.manifest.deviation) == ("float32", None)
    assert 1e-5 < tolerance["cpu"].max_abs < 0.2
    assert 1e-6 <= tolerance["cpu"].one_minus_cosine < 3 * (1 - deviation.min_cosine)


def test_clients_match_four_bits_as_float32(in_precision: InPrecision) -> None:
    """Rows are float32, so nothing falls into another step, and no tolerance is wider."""
    report = in_precision("bert", "int4")
    assert read_head(report.path).fixture.tolerances == TOLERANCES
    assert max(report.differences.values()) < 2e-6


@pytest.mark.weekly
def test_four_bits_beside_the_graph(in_precision: InPrecision, tmp_path: Path) -> None:
    """They lie in the other file, and the vectors stay."""
    inside = in_precision("bert", "int4")
    beside = bake_drawn(tmp_path, "bert", precision="int4", weights="beside")
    assert beside.weights is not None
    assert beside.weights.stat().st_size > 100_000
    found = [Embedder(one.path).embed(["the boat", "a river"]) for one in (inside, beside)]
    np.testing.assert_array_equal(*found)


def matmul(inputs: int, outputs: int, folder: Path) -> tuple[onnx.ModelProto, np.ndarray]:
    """A graph that multiplies numbers of ids by a weight, in four bits; and the numbers."""
    random = np.random.default_rng(2)
    table, weight = (random.normal(size=size) for size in ((9, inputs), (inputs, outputs)))
    proto = onnx.parser.parse_model(f"""
        <ir_version: 8, opset_import: ["": 18]>
        layer (int64[batch, length] ids) => (float[batch, length, {outputs}] y)
        {{
          x = Gather(table, ids)
          y = MatMul(x, w)
        }}
    """)
    proto.graph.initializer.extend(
        onnx.numpy_helper.from_array(array.astype(np.float32), name)
        for name, array in (("table", table), ("w", weight))
    )
    model = ir.from_proto(proto)
    contract = Contract(
        inputs=(Input(name="ids", feed="input_ids"),),
        output=Output(name="y", dimension=outputs),
        vocab_size=9,
        max_length=8,
        pad_id=0,
    )
    int4.quantize(model, contract, [[1, 2, 3], [4, 5]], folder)
    return ir.to_proto(model), table


@pytest.mark.parametrize(("inputs", "outputs"), [(128, 128), (130, 127), (1025, 17), (17, 1001)])
def test_a_runtime_multiplies_by_what_the_bytes_say(
    inputs: int, outputs: int, tmp_path: Path
) -> None:
    """Also where the rows are no multiple of a block, and the blocks no even number."""
    model, table = matmul(inputs, outputs, tmp_path)
    (node,) = (one for one in model.graph.node if one.op_type == "MatMulNBits")
    weight = weight_of(node, constants_of(model))
    session = ort.InferenceSession(model.SerializeToString(), providers=PROVIDERS)
    for ids in ([[3]], [[1, 2, 3], [4, 5, 8]], [[7] * 40], [[], []]):
        (y,) = session.run(None, {"ids": np.array(ids, np.int64)})
        expected = table[np.array(ids, np.int64)] @ weight.astype(np.float64)
        np.testing.assert_allclose(y, expected, rtol=0, atol=2e-5 * inputs**0.5)


def test_a_small_graph_stays_as_it_is(tmp_path: Path) -> None:
    """Without a large matmul nothing needs another domain."""
    model, _ = matmul(10, 11, tmp_path)
    assert [one.domain for one in model.opset_import] == [""]
    assert [node.op_type for node in model.graph.node] == ["Gather", "MatMul"]
