"""Quantized embeddings against sentence-transformers' own, and what the bake says may differ."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from sentence_transformers.util.quantization import quantize_embeddings

from golden_oracle import golden
from models.folders.bert import bert
from models.folders.saved import save
from polybake.baking.golden.golden import cases_for, make_fixture
from polybake.base.modelfile.container import read_head
from polybake.base.modelfile.fixture import decode_vectors
from polybake.steps import Quantize
from support.oracle.agreement import MEAN, agreement, bake, bake_source, quantized
from support.oracle.proven import Proven

HIDDEN = 24
PRECISIONS = ("int8", "uint8", "binary", "ubinary")


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny BERT of 24 dimensions, saved by sentence-transformers."""
    return save(tmp_path_factory.mktemp("quantize"), *bert())


@pytest.mark.parametrize("precision", PRECISIONS)
def test_agrees_with_sentence_transformers(
    saved: Path, tmp_path: Path, proven: Proven, precision: str
) -> None:
    """Every integer and bit is equal, except where the float lies at an edge."""
    out = tmp_path / "tiny.onnx"
    mean, ranges = fitted(saved, tmp_path)
    given = None if "binary" in precision else ranges
    step: dict[str, object] = {"step": "quantize", "precision": precision}
    np.save(saved / "mean.npy", mean)
    if given is not None:
        np.save(saved / "ranges.npy", ranges)
        step["ranges"] = saved / "ranges.npy"
    subtract = {"step": "subtract", "vector": saved / "mean.npy"}
    bake(saved, out, name="tiny", steps=[*MEAN, subtract, step])
    floats, _ = golden(saved, cases_for(out), read_head(out).manifest.contract)
    found = agreement(
        out,
        quantized(
            out, floats, lambda rows: quantize_embeddings(rows - mean, precision, ranges=given)
        ),
    )
    if given is not None:
        theirs = np.concatenate([decode_vectors(case.embeddings) for case in found.expected])
        ends = np.iinfo(theirs.dtype)
        assert {ends.min, ends.max} <= set(theirs.flat), "values beyond the ranges are clipped"
    proven(f"bert, {precision}", found)


@pytest.mark.parametrize("precision", PRECISIONS)
def test_the_formula_is_theirs(precision: str) -> None:
    """Equal float32 numbers give equal integers, also at edges and beyond the ranges."""
    random = np.random.default_rng(8)
    ranges = np.sort(random.normal(size=(2, HIDDEN)), axis=0).astype(np.float32)
    ranges[:, 3] = 0.25
    low, width = ranges[0], (ranges[1] - ranges[0]) / np.float32(255)
    edges = (low + width * random.integers(-20, 280, (200, HIDDEN))).astype(np.float32)
    x = np.concatenate([random.normal(size=(200, HIDDEN)).astype(np.float32), edges, 0 * edges])
    given = None if "binary" in precision else ranges
    found = Quantize(precision=precision, ranges=given).formula(x)
    theirs = quantize_embeddings(x, precision, ranges=given)
    assert found.dtype == theirs.dtype
    np.testing.assert_array_equal(found, theirs)


def fitted(saved: Path, folder: Path) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """The mean and the ranges of a few golden texts, so that other texts lie beyond them."""
    plain = bake_source(saved, folder / "plain.onnx")
    cases = make_fixture(plain, cases_for(plain)).cases
    vectors = np.concatenate([decode_vectors(case.embeddings) for case in cases])
    mean = vectors.mean(axis=0).astype(np.float32)
    some = vectors[:8] - mean
    return mean, np.stack([some.min(axis=0), some.max(axis=0)]).astype(np.float32)
