"""What a bake gives up for size or speed, and what it says of that."""

from pathlib import Path

import numpy as np
import onnx
import pytest

from models.bake import bake
from models.files.task_models import write_labelled, write_labelled_tokens, write_spans
from models.folders.tiny_folders import CONFIG, bert_weights, write_bert
from polybake.baking.bake import BakeReport
from polybake.baking.bake_config import bake_config
from polybake.baking.sources import open_source
from polybake.base.modelfile.container import read_head
from polybake.base.modelfile.fixture import decode_vectors
from polybake.base.modelfile.tolerance import TOLERANCES
from polybake.config import Config
from polybake.steps import Normalize, Pool

pytestmark = pytest.mark.slow

WIDE = CONFIG | {"hidden_size": 48, "intermediate_size": 96}
NAME = "encoder.layer.0.intermediate.dense.weight"


def baked(folder: Path, storage: str) -> BakeReport:
    source = open_source(write_bert(folder / "model", WIDE, bert_weights(WIDE)))
    steps = [Pool(mode="mean"), Normalize()]
    return bake(source, steps, folder / "out.onnx", name="tiny", storage=storage)


def vectors(report: BakeReport) -> np.ndarray:
    cases = read_head(report.path).fixture.cases
    return np.concatenate([decode_vectors(case.embeddings) for case in cases])


@pytest.mark.parametrize("storage", ["float16", "float16-table"])
def test_float16_storage_says_what_it_changed(storage: str, tmp_path: Path) -> None:
    """Weights are halved in size, and the manifest holds how far the golden vectors moved."""
    exact = baked(tmp_path / "exact", "checkpoint")
    report = baked(tmp_path / "half", storage)
    stored = onnx.load(report.path).graph.initializer
    narrow = [one.name for one in stored if one.data_type == onnx.TensorProto.FLOAT16]
    if storage == "float16-table":
        assert narrow == ["embeddings.word_embeddings.weight"]
    else:
        assert NAME in narrow
    before, after = vectors(exact), vectors(report)
    deviation = report.manifest.deviation
    assert deviation is not None
    assert deviation.max_abs == pytest.approx(np.abs(before - after).max(), rel=1e-6)
    assert deviation.min_cosine == pytest.approx((before * after).sum(axis=1).min(), abs=1e-6)
    assert 1e-6 < deviation.max_abs < 5e-3
    assert (report.manifest.storage, exact.manifest.storage) == (storage, "checkpoint")
    assert read_head(report.path).fixture.tolerances == TOLERANCES
    assert report.manifest.fingerprint != exact.manifest.fingerprint


@pytest.mark.parametrize(
    ("task", "precision"),
    [("answer", "int8"), ("rerank", "int4"), ("tag", "int8"), ("zero-shot", "int8")],
)
def test_integers_of_other_tasks(task: str, precision: str, tmp_path: Path) -> None:
    """Models that take pairs are calibrated by pairs, also where one text must not be cut."""
    write = {"answer": write_spans, "tag": write_labelled_tokens}.get(task)
    labels = ("entailment", "neutral", "contradiction") if task == "zero-shot" else ("one",)
    source = write(tmp_path / "m") if write else write_labelled(tmp_path / "m", *labels)
    table = {"name": "tiny", "source": source, "output": tmp_path / "a.onnx"}
    bake_config(Config.model_validate({"model": table | {"task": task, "precision": precision}}))
    deviation = read_head(tmp_path / "a.onnx").manifest.deviation
    assert deviation is not None
    assert deviation.answers > 20
