"""Figures that are computed from samples."""

from __future__ import annotations

import json

import pytest

from polybake.study.bench.figures import Figures
from support.samples.sample_figures import sample_figures


def test_speed_is_over_the_median() -> None:
    """Texts and tokens of a call, divided by its seconds."""
    row = sample_figures().workloads[0].rows[0]
    assert row.texts_per_second == pytest.approx(1000 / 3)
    assert row.tokens_per_second == pytest.approx(34_000 / 3)
    assert row.latency is None


def test_latency_is_of_single_calls() -> None:
    """Latency is given in percentiles of calls, in seconds."""
    latency = sample_figures().workloads[1].rows[0].latency
    assert latency == pytest.approx({"p50": 0.0025, "p90": 0.0037, "p99": 0.00397})


def test_shares_are_parts_of_the_whole() -> None:
    """The shares of all parts sum to 1."""
    parts = sample_figures().models[0].parts[0]
    shares = [parts.share(part) for part in parts.seconds]
    assert sum(shares) == pytest.approx(1)
    assert shares[-1] == pytest.approx(8 / 36)


def test_a_client_with_other_vectors_is_a_verdict() -> None:
    """A client with wrong vectors has no figure, and the exit code is 1."""
    assert sample_figures().exit_code() == 0
    failed = sample_figures(message="row 3: difference 2")
    assert failed.exit_code() == 1
    assert failed.workloads[0].rows[1].texts_per_second is None


def test_json_reads_back() -> None:
    """The JSON also holds computed figures, and can be read back."""
    figures = sample_figures()
    written = json.dumps(figures.model_dump(mode="json"), allow_nan=False)
    assert Figures.model_validate_json(written) == figures
    assert json.loads(written)["workloads"][0]["rows"][0]["timing"]["median"] == 3
