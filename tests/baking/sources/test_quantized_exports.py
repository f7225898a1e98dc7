"""Encoders that were quantized statically by others' tools are kept."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from models.bake import bake
from models.folders.tiny_folders import CONFIG, VOCABULARY, bert_weights, write_bert
from models.onnx.quantized_onnx import calibrated
from polybake.baking.bake import BakeReport
from polybake.baking.recipe.resolve import resolve
from polybake.baking.sources import open_source
from polybake.base.modelfile.container import read_head
from polybake.base.modelfile.tolerance import TOLERANCES
from polybake.runtime.embedder import Embedder

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


def apart(embedder: Embedder) -> tuple[np.ndarray, float]:
    """The vectors of all texts together, and how far they are from those of each alone."""
    rows = embedder.runner.ids(TEXTS)
    together = embedder.runner.vectors(rows, length=30)
    alone = np.concatenate([embedder.runner.vectors([row]) for row in rows])
    return together, float(np.abs(together - alone).max())


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
