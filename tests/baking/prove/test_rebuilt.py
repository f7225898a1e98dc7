"""Encoders that were quantized by others' tools: refused, rebuilt, or kept."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from models.folders.tiny_folders import CONFIG, VOCABULARY, bert_weights, write_bert
from models.onnx.quantized_onnx import calibrated, quantize_dynamic, widened, with_weights
from polybake.baking.bake import BakeReport, bake
from polybake.baking.recipe.resolve import resolve
from polybake.baking.sources import open_source
from polybake.base.modelfile.container import read_head
from polybake.base.modelfile.fixture import TOLERANCES
from polybake.runtime.embedder import Embedder
from support.processes.commandline import polybake

pytestmark = pytest.mark.slow

STEPS = [{"step": "pool", "mode": "mean"}, {"step": "normalize"}]
TEXTS = [f"the {word} river" for word in VOCABULARY[5:20]] + ["a", "boats : the river , water ."]


def exported(model: Path, folder: Path) -> Path:
    """The encoder of a model folder as an ONNX file, with its tokenizer beside it."""
    folder.mkdir()
    for name in ("tokenizer.json", "tokenizer_config.json", "config.json"):
        shutil.copy(model / name, folder)
    open_source(model).encoder.reference(folder)
    return folder / "encoder.onnx"


def tiny(folder: Path) -> Path:
    config = CONFIG | {"hidden_size": 48, "intermediate_size": 96}
    return exported(write_bert(folder / "model", config, bert_weights(config)), folder / "onnx")


def baked(path: Path, **options: Any) -> BakeReport:
    source = open_source(path, **options)
    steps = resolve(STEPS, base=path.parent, source=source)
    return bake(source, steps, path.parent / "out" / path.name, name="tiny")


@pytest.mark.parametrize("options", [{}, {"per_channel": True, "signed": False}], ids=str)
def test_the_vectors_are_the_float_graphs(options: dict[str, Any], tmp_path: Path) -> None:
    """The rebuilt graph equals a float graph with the same weights, and no neighbour counts."""
    check(tiny(tmp_path), options, products=12, tables=2)


@pytest.mark.minilm
@pytest.mark.weekly
def test_minilm(minilm: Path, tmp_path: Path) -> None:
    report = check(exported(minilm, tmp_path / "onnx"), {}, products=36, tables=2)
    rebuilt = report.manifest.source.dequantized
    assert rebuilt is not None
    assert 0.95 < rebuilt.deviation.min_cosine < 0.9999


def apart(embedder: Embedder) -> tuple[np.ndarray, float]:
    """The vectors of all texts together, and how far they are from those of each alone."""
    rows = embedder.runner.ids(TEXTS)
    together = embedder.runner.vectors(rows, length=30)
    alone = np.concatenate([embedder.runner.vectors([row]) for row in rows])
    return together, float(np.abs(together - alone).max())


def check(path: Path, options: dict[str, Any], products: int, tables: int) -> BakeReport:
    quantized = quantize_dynamic(path, path.parent / "q.onnx", **options)
    report = baked(quantized, dequantize=True)
    weights = widened(quantized)
    assert len(weights) >= products
    floats = baked(with_weights(path, weights, path.parent / "widened.onnx"))
    together, moved = apart(Embedder(report.path))
    assert moved < 1e-6
    assert np.abs(together - Embedder(floats.path).embed(TEXTS)).max() < 1e-6
    manifest = read_head(report.path).manifest
    assert (manifest.verified, floats.manifest.verified) == ("steps", "source")
    assert floats.manifest.source.dequantized is None
    rebuilt = manifest.source.dequantized
    assert rebuilt is not None
    assert (rebuilt.products, rebuilt.tables) == (products, tables)
    assert 1e-4 < rebuilt.deviation.max_abs < 0.5
    return report


def test_the_command_says_what_was_rebuilt(tmp_path: Path) -> None:
    """And int8 makes the file small again."""
    path = tiny(tmp_path)
    quantize_dynamic(path, path.parent / "q.onnx")
    polybake("init", path.parent / "q.onnx", "--name", "tiny", "--dequantize", cwd=tmp_path)
    said = polybake("bake", "--output", "out.onnx", cwd=tmp_path)
    assert "rebuilt in float32: 12 products, 2 tables; the source's own vectors, each" in said
    assert 'four times the bytes now: set precision = "int8" for a quarter' in said
    narrow = polybake("bake", "--precision", "int8", "--output", "narrow.onnx", cwd=tmp_path)
    assert "rebuilt in float32: 12 products" in narrow
    assert "four times" not in narrow


@pytest.mark.parametrize("form", ["QDQ", "QOperator"])
def test_scales_that_are_constants_stay(form: str, tmp_path: Path) -> None:
    """Static scales keep a text's vector its own in every batch; rewritten sums would move it."""
    path = tiny(tmp_path)
    report = baked(calibrated(path, path.parent / "q.onnx", form))
    kinds = {node.op_type for node in onnx.load(report.path).graph.node}
    assert "QuantizeLinear" in kinds
    assert report.differences["source"] < 1e-6
    _, moved = apart(Embedder(report.path))
    assert moved < 1e-5
    assert read_head(report.path).fixture.tolerances["cpu"].max_abs >= TOLERANCES["cpu"].max_abs
