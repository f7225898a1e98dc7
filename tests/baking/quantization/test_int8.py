"""Whole models in int8."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from models.folders.drawn import DRAWN, PRODUCTS, STEPS, bake_drawn, drawn_weights
from models.folders.tiny_folders import CONFIG, VOCABULARY, bert_weights, write_bert
from polybake.baking.assemble.lower import Lowering
from polybake.baking.bake import BakeReport, bake
from polybake.baking.quantization import int8
from polybake.baking.recipe.resolve import resolve
from polybake.baking.sources import open_source
from polybake.base.modelfile.container import read_head
from polybake.runtime.embedder import Embedder

pytestmark = pytest.mark.slow

WIDE: dict[str, Any] = CONFIG | {
    "hidden_size": 128,
    "num_attention_heads": 4,
    "intermediate_size": 256,
    "max_position_embeddings": 130,
}
INT8 = Lowering(precision="int8")


def weights(config: dict[str, Any] = WIDE) -> dict[str, Any]:
    """Weights so small that 128 inputs stay within GELU's range."""
    found = bert_weights(config)
    return {n: a * 0.3 if a.ndim == 2 and "dense" in n else a for n, a in found.items()}


def baked(folder: Path, lowering: Lowering, **options: Any) -> BakeReport:
    write_bert(folder / "model", WIDE, weights())
    source = open_source(folder / "model")
    steps = resolve(STEPS, base=folder, source=source)
    out = folder / f"{lowering.precision}.onnx"
    return bake(source, steps, out, name="tiny", lowering=lowering, **options)


def cosines(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    found: np.ndarray = (one * other).sum(axis=1)
    return found


def test_nodes_say_what_they_are_for(tmp_path: Path) -> None:
    """Added nodes are named after the module of their product, so that a profile is readable."""
    graph = onnx.load(baked(tmp_path, Lowering("int8")).path).graph
    names = [node.name for node in graph.node]
    added = [name for name in names if "/int8/" in name]
    assert len(set(names)) == len(names)
    assert {node.name for node in graph.node if node.op_type == "QuantizeLinear"} <= {*added}
    assert any(name.startswith("encoder/layer.0/attention/self/") for name in added)


def test_the_vectors_are_close_and_the_file_is_small(tmp_path: Path) -> None:
    """All large products are integers; the manifest says how far the vectors moved."""
    exact = baked(tmp_path / "exact", Lowering())
    report = baked(tmp_path / "int8", Lowering(precision="int8"))
    model = onnx.load(report.path)
    kinds = [node.op_type for node in model.graph.node]
    assert kinds.count("MatMulIntegerToFloat") == 2 * 6
    assert (kinds.count("Attention"), kinds.count("Softmax")) == (2, 0)
    assert model.opset_import[0].version == report.manifest.opset == 23
    assert report.size < 0.45 * exact.size  # a third of these bytes is the head
    deviation = report.manifest.deviation
    assert deviation is not None
    assert 0.98 < deviation.min_cosine <= deviation.mean_cosine < 1
    assert (exact.manifest.precision, exact.manifest.deviation) == ("float32", None)
    texts = [f"the {word} river" for word in VOCABULARY[5:]]
    vectors = [Embedder(one.path).embed(texts) for one in (exact, report)]
    assert cosines(*vectors).min() > 0.98
    assert not np.array_equal(*vectors)
    head = read_head(report.path)
    tolerance = head.fixture.tolerances["cpu"]
    assert 1e-5 < tolerance.max_abs < 0.2
    assert 1e-6 <= tolerance.one_minus_cosine < 3 * (1 - deviation.min_cosine)
    assert head.manifest.precision == "int8"


@pytest.mark.parametrize("kind", DRAWN)
def test_every_architecture_has_its_products_in_int8(kind: str, tmp_path: Path) -> None:
    report = bake_drawn(tmp_path, kind, INT8)
    kinds = [node.op_type for node in onnx.load(report.path).graph.node]
    assert kinds.count("MatMulIntegerToFloat") == PRODUCTS[kind]
    deviation = report.manifest.deviation
    assert deviation is not None
    assert 0.997 < deviation.min_cosine < 1


def test_inputs_that_are_large_in_every_text_are_divided(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three channels of each norm, 40 times as large as the others, as real models have them."""
    weights = {
        name: np.where(np.isin(np.arange(128), (3, 50, 101)), 40 * weight, weight)
        for name, weight in drawn_weights("modernbert").items()
        if weight.ndim == 1 and "norm" in name
    }
    smoothed = bake_drawn(tmp_path / "smoothed", "modernbert", INT8, weights).manifest.deviation
    monkeypatch.setattr(int8, "smoothing", lambda largest, _: np.ones_like(largest))
    plain = bake_drawn(tmp_path / "plain", "modernbert", INT8, weights).manifest.deviation
    assert smoothed is not None
    assert plain is not None
    assert 1 - smoothed.mean_cosine < 0.5 * (1 - plain.mean_cosine)


@pytest.mark.parametrize("kind", ["bert", "qwen3"])
def test_no_vector_depends_on_its_neighbours(kind: str, tmp_path: Path) -> None:
    """A text's vector stays within float32's rounding alone, among others and under padding."""
    embedder = Embedder(bake_drawn(tmp_path, kind, INT8).path)
    random = np.random.default_rng(1)
    texts = [" ".join(random.choice(VOCABULARY[5:], size)) for size in random.integers(1, 60, 40)]
    rows = embedder.runner.ids(texts)
    together = embedder.runner.vectors(rows, length=90)
    alone = np.concatenate([embedder.runner.vectors([row]) for row in rows])
    assert np.abs(together - alone).max() < 1e-6


def test_it_is_the_same_file_at_each_bake(tmp_path: Path) -> None:
    lowering = Lowering(precision="int8")
    one, other = (baked(tmp_path / name, lowering).path.read_bytes() for name in ("a", "b"))
    assert one == other


def test_own_texts_calibrate(tmp_path: Path) -> None:
    """A user's texts change the scales, and nothing of them is in the file."""
    own = Lowering(precision="int8", calibration=["the boat", "a river of water"])
    with_texts, without = (
        baked(tmp_path / "a", own),
        baked(tmp_path / "b", Lowering(precision="int8")),
    )
    assert with_texts.manifest.fingerprint != without.manifest.fingerprint
    assert b"a river of water" not in with_texts.path.read_bytes()
