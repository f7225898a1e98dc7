"""Models and clients are timed in turns."""

from __future__ import annotations

from pathlib import Path

import pytest

from polybake.runtime.embedder import Embedder
from polybake.study.bench.comparison import Candidate, compare
from polybake.study.bench.running_client import RunningClient
from polybake.study.bench.workload import Workload
from polybake.verification.harness.harness_file import read_client
from polybake.verification.verdict import Status
from support.clients.plain_client import write_plain_client

pytestmark = pytest.mark.slow

TEXTS = ("one", "two words", "three")
ALL = Workload("own", "three texts", TEXTS)
SINGLE = Workload("single", "one of them", TEXTS, single=True)


def test_rows_of_threads(every_feed: Path) -> None:
    """Each row has its own times, and its ratio is that of the medians."""
    candidates = [Candidate("m", Embedder(every_feed, threads=n), n) for n in (1, 1)]
    told: list[str] = []
    found = compare(ALL, candidates, 3, told.append)
    first, second = found.rows
    assert first.ratio == 1
    assert second.ratio == pytest.approx(first.timing.median / second.timing.median)
    assert (first.texts, first.tokens, first.client) == (3, 22, None)
    assert told[0] == "three texts: warm-up"
    single = compare(SINGLE, candidates, 2, told.append).rows[0]
    assert [len(calls) for calls in single.timing.seconds] == [40, 40]
    assert single.texts == 1


@pytest.mark.parametrize(
    ("fault", "status"), [("one-element", Status.FAIL), ("crash-later", Status.CRASH)]
)
def test_a_client_that_fails_has_no_figures(
    every_feed: Path, tmp_path: Path, fault: str, status: Status
) -> None:
    """A client may fail before or while it is timed; it is asked no more, and the others go on."""
    embedder = Embedder(every_feed)
    candidates = [Candidate("m", embedder)]
    for language, planted in (("right", "none"), ("wrong", fault)):
        folder = write_plain_client(tmp_path / language, planted, language)
        running = RunningClient(read_client(folder), embedder)
        candidates.append(Candidate("m", embedder, client=language, running=running))
    for workload in (ALL, SINGLE):
        own, right, wrong = compare(workload, candidates, 1, lambda _: None).rows
        assert own.timing
        assert right.timing
        assert (right.client, right.status) == ("right", Status.PASS)
        assert (wrong.status, wrong.timing, wrong.ratio) == (status, None, None)
        assert wrong.message
    for candidate in candidates[1:]:
        candidate.running.close()
