"""Quantized embeddings against sentence-transformers' own, and what the bake says may differ."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from golden_oracle import golden
from models.folders.bert import bert
from models.folders.saved import save
from polybake.baking.bake import bake
from polybake.baking.golden.golden import cases_for, make_fixture
from polybake.baking.sources import open_source
from polybake.base.modelfile.container import read_head
from polybake.base.modelfile.fixture import decode_slack, decode_vectors, encode_vectors
from polybake.base.modelfile.slack import Slack, differences
from polybake.steps import Pool, Quantize, Subtract
from support.oracle.agreement import Agreement
from support.oracle.proven import Proven

torch = pytest.importorskip("torch", reason="the oracle is not installed")
pytest.importorskip("sentence_transformers", reason="the oracle is not installed")

from sentence_transformers.util.quantization import quantize_embeddings  # noqa: E402

pytestmark = pytest.mark.oracle

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
    quantize = Quantize(precision=precision, ranges=given)
    recipe = [Pool(mode="mean"), Subtract(vector=mean), quantize]
    bake(open_source(saved), recipe, out, name="tiny")
    cases = cases_for(out)
    expected, _ = golden(saved, cases, read_head(out).manifest.contract)
    found = make_fixture(out, cases).cases
    assert [case.input_ids for case in found] == [case.input_ids for case in expected]
    floats = np.concatenate([decode_vectors(case.embeddings) for case in expected])
    theirs = quantize_embeddings(floats - mean, precision, ranges=given)
    ours = np.concatenate([decode_vectors(case.embeddings) for case in found])
    slack = Slack.of_rows([decode_slack(case.embeddings) for case in found])
    assert slack is not None
    assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
    assert not slack.exceeded(theirs, ours).any()
    assert np.mean(slack.values > 0) < 0.1, "what may differ is the exception"
    assert len(np.unique(ours)) > 20
    if given is not None:
        ends = np.iinfo(ours.dtype)
        assert {ends.min, ends.max} <= set(ours.flat), "values beyond the ranges are clipped"
    apart = differences(theirs, ours, packed_bits=slack.packed_bits)
    print(  # noqa: T201
        f"\n{quantize}: {int((apart > 0).sum())} of {apart.size} elements differ, by at most "
        f"{apart.max():.0f}; {int((slack.values > 0).sum())} lie at an edge"
    )
    rows = iter(theirs)
    quantized = [
        case.model_copy(
            update={
                "embeddings": encode_vectors(
                    np.stack([next(rows) for _ in case.texts]), decode_slack(mine.embeddings)
                )
            }
        )
        for case, mine in zip(expected, found, strict=True)
    ]
    proven(f"bert, {precision}", Agreement(out, tuple(quantized), 0.0))


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
    plain = folder / "plain.onnx"
    bake(open_source(saved), [Pool(mode="mean")], plain, name="tiny")
    cases = make_fixture(plain, cases_for(plain)).cases
    vectors = np.concatenate([decode_vectors(case.embeddings) for case in cases])
    mean = vectors.mean(axis=0).astype(np.float32)
    some = vectors[:8] - mean
    return mean, np.stack([some.min(axis=0), some.max(axis=0)]).astype(np.float32)
