"""Whole models whose weights have four bits."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from onnxscript import ir

from models.folders.drawn import DRAWN, PRODUCTS, bake_drawn, drawn_weights
from models.folders.tiny_folders import VOCABULARY
from models.formulas.four_bits_numpy import constants_of, weight_of, widened
from polybake.baking.assemble.lower import Lowering
from polybake.baking.quantization import int4
from polybake.base.modelfile.container import read_head
from polybake.base.modelfile.fixture import TOLERANCES
from polybake.base.modelfile.manifest import Contract, Input, Output
from polybake.runtime.embedder import Embedder

pytestmark = pytest.mark.slow

INT4 = Lowering(precision="int4")
PROVIDERS = ["CPUExecutionProvider"]


@pytest.mark.parametrize("kind", DRAWN)
def test_every_architecture_has_its_weights_in_four_bits(kind: str, tmp_path: Path) -> None:
    """The vectors are those of the weights that the file holds, in float32."""
    report = bake_drawn(tmp_path, kind, INT4)
    model = onnx.load(report.path)
    kinds = [node.op_type for node in model.graph.node]
    assert kinds.count("MatMulNBits") == PRODUCTS[kind]
    assert {one.domain: one.version for one in model.opset_import}["com.microsoft"] == 1
    deviation = report.manifest.deviation
    assert deviation is not None
    assert 0.9 < deviation.min_cosine < 1
    assert report.manifest.precision == "int4"
    runner = Embedder(report.path).runner
    wide = ort.InferenceSession(widened(model).SerializeToString(), providers=PROVIDERS)
    rows = [[5, 9, 30, 7], [6, 12]]
    found, expected = (one.vectors(rows) for one in (runner, replace(runner, session=wide)))
    assert np.abs(found - expected).max() < 2e-6


def product(inputs: int, outputs: int, folder: Path) -> tuple[onnx.ModelProto, np.ndarray]:
    """A graph that multiplies numbers of ids by a weight, in four bits; and the weight."""
    text = f"""
    <ir_version: 8, opset_import: ["": 18]>
    layer (int64[batch, length] ids, float[9, {inputs}] table, float[{inputs}, {outputs}] w)
      => (float[batch, length, {outputs}] y)
    {{
      x = Gather(table, ids)
      y = MatMul(x, w)
    }}
    """
    model = ir.from_proto(onnx.parser.parse_model(text))
    random = np.random.default_rng(2)
    arrays = [random.normal(size=size) for size in ((9, inputs), (inputs, outputs))]
    for value, array in zip(model.graph.inputs[1:], arrays, strict=True):
        value.const_value = ir.tensor(array.astype(np.float32))
        model.graph.inputs.remove(value)
        model.graph.initializers.add(value)
    contract = Contract(
        inputs=(Input(name="ids", feed="input_ids"),),
        output=Output(name="y", dimension=outputs),
        vocab_size=9,
        max_length=8,
        pad_id=0,
    )
    int4.quantize(model, contract, [[1, 2, 3], [4, 5]], folder)
    return ir.to_proto(model), arrays[0]


@pytest.mark.parametrize(("inputs", "outputs"), [(128, 128), (130, 127), (1025, 17), (17, 1001)])
def test_a_runtime_multiplies_by_what_the_bytes_say(
    inputs: int, outputs: int, tmp_path: Path
) -> None:
    """Also where the rows are no multiple of a block, and the blocks no even number."""
    model, table = product(inputs, outputs, tmp_path)
    (node,) = (one for one in model.graph.node if one.op_type == "MatMulNBits")
    weight = weight_of(node, constants_of(model))
    session = ort.InferenceSession(model.SerializeToString(), providers=PROVIDERS)
    for ids in ([[3]], [[1, 2, 3], [4, 5, 8]], [[7] * 40], [[], []]):
        (y,) = session.run(None, {"ids": np.array(ids, np.int64)})
        expected = table[np.array(ids, np.int64)] @ weight.astype(np.float64)
        np.testing.assert_allclose(y, expected, rtol=0, atol=2e-5 * inputs**0.5)


def test_a_small_graph_stays_as_it_is(tmp_path: Path) -> None:
    """Without a large product nothing needs another domain."""
    model, _ = product(10, 11, tmp_path)
    assert [one.domain for one in model.opset_import] == [""]
    assert [node.op_type for node in model.graph.node] == ["Gather", "MatMul"]


def test_clients_match_as_those_of_float32(tmp_path: Path) -> None:
    """Rows are float32, so nothing falls into another step, and no tolerance is wider."""
    report = bake_drawn(tmp_path, "bert", INT4)
    assert read_head(report.path).fixture.tolerances == TOLERANCES
    assert max(report.differences.values()) < 2e-6


@pytest.mark.parametrize("kind", ["bert", "qwen3"])
def test_no_vector_depends_on_its_neighbours(kind: str, tmp_path: Path) -> None:
    embedder = Embedder(bake_drawn(tmp_path, kind, INT4).path)
    random = np.random.default_rng(1)
    texts = [" ".join(random.choice(VOCABULARY[5:], size)) for size in random.integers(1, 60, 40)]
    rows = embedder.runner.ids(texts)
    together = embedder.runner.vectors(rows, length=90)
    alone = np.concatenate([embedder.runner.vectors([row]) for row in rows])
    assert np.abs(together - alone).max() < 2e-6


def large_channels(kind: str) -> dict[str, Any]:
    """Three channels of each norm, 40 times as large as the others, as real models have them."""
    return {
        name: np.where(np.isin(np.arange(128), (3, 50, 101)), 40 * weight, weight)
        for name, weight in drawn_weights(kind).items()
        if weight.ndim == 1 and "norm" in name
    }


def test_weights_of_large_inputs_have_finer_steps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    weights = large_channels("modernbert")
    smoothed = bake_drawn(tmp_path / "smoothed", "modernbert", INT4, weights).manifest.deviation
    monkeypatch.setattr(int4, "_SMOOTHING", 0)
    plain = bake_drawn(tmp_path / "plain", "modernbert", INT4, weights).manifest.deviation
    assert smoothed is not None
    assert plain is not None
    assert 1 - smoothed.mean_cosine < 0.8 * (1 - plain.mean_cosine)


def test_it_is_the_same_file_at_each_bake(tmp_path: Path) -> None:
    one, other = (bake_drawn(tmp_path / name, "bert", INT4).path.read_bytes() for name in "ab")
    assert one == other


def test_weights_beside_the_graph(tmp_path: Path) -> None:
    """They lie in the other file, and the vectors stay."""
    inside = bake_drawn(tmp_path / "a", "bert", INT4)
    beside = bake_drawn(tmp_path / "b", "bert", INT4, weights="beside")
    assert beside.weights is not None
    assert beside.weights.stat().st_size > 100_000
    found = [Embedder(one.path).embed(["the boat", "a river"]) for one in (inside, beside)]
    np.testing.assert_array_equal(*found)


def test_own_texts_calibrate(tmp_path: Path) -> None:
    """A user's texts change the weights, and nothing of them is in the file."""
    own = Lowering(precision="int4", calibration=["the boat", "a river of water"])
    with_texts = bake_drawn(tmp_path / "a", "bert", own)
    without = bake_drawn(tmp_path / "b", "bert", INT4)
    assert with_texts.manifest.fingerprint != without.manifest.fingerprint
    assert b"a river of water" not in with_texts.path.read_bytes()
