"""The texts that are timed, and the figures of their times."""

from __future__ import annotations

import json
import statistics
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from polybake.base.texts import open_corpus
from polybake.errors import InputError
from polybake.study.bench.figures import Figures
from polybake.study.bench.turns import Timing, in_turns
from polybake.study.bench.workload import Workload, own_workloads, workloads
from support.samples.sample_figures import sample_figures


def test_lengths() -> None:
    """The default texts have the promised lengths in words, special tokens aside."""
    short, long, single = ([len(text.split()) for text in one.texts] for one in workloads())
    assert (len(short), len(long), single) == (1000, 200, [10])
    assert 31.5 < statistics.mean(short) < 32.5
    assert 15 < statistics.median(short) < 30
    assert 100 < max(short) <= 190
    assert 198 <= min(long) <= max(long) <= 252


def test_models_of_pairs_get_the_same_texts() -> None:
    """Each text is paired with the first one, as documents are with a query."""
    paired = Workload("own", "", ("a", "b", "c")).paired()
    assert paired.texts == (("a", "a"), ("a", "b"), ("a", "c"))


def test_single_texts_are_calls_of_their_own() -> None:
    """Each round has 40 calls of single texts, enough for a 99th percentile over all."""
    *many, single = workloads()
    assert [len(one.calls()) for one in many] == [1, 1]
    assert single.calls() == [single.texts] * 40
    assert Workload("own", "", ("a", "b"), single=True).calls() == [("a",), ("b",)] * 20


@pytest.mark.parametrize(("texts", "found"), [(1, 1), (40, 40), (41, 21), (100, 34)])
def test_a_part_is_taken_from_all_places(texts: int, found: int) -> None:
    """A sample is spread over the file, as texts at its beginning may be of one kind."""
    part = Workload("own", "", tuple(map(str, range(texts)))).part(40)
    assert len(part) == found
    assert int(part[-1]) >= texts - 3


def test_own_texts(tmp_path: Path) -> None:
    """A user's texts are embedded at once and one by one; rows without a text are left out."""
    file = tmp_path / "t.jsonl"
    file.write_text('{"text": "one"}\n{"text": null}\n{"text": ""}\n')
    whole, single = own_workloads(open_corpus(file))
    assert (whole.title, whole.texts, whole.single) == ("2 texts of t.jsonl", ("one", ""), False)
    assert (single.texts, single.single) == (("one", ""), True)


def test_no_texts_are_refused(tmp_path: Path) -> None:
    """A file without texts is named."""
    (tmp_path / "t.txt").write_text("")
    with pytest.raises(InputError, match=r"t\.txt: has no texts; give a file with one text a line"):
        own_workloads(open_corpus(tmp_path / "t.txt"))


def test_median_and_spread_of_rounds() -> None:
    """The spread is that of the rounds, however far single calls lie apart."""
    found = Timing(seconds=((1.0, 9.0), (5.0, 7.0), (4.0, 4.0)))
    assert found.median == statistics.median([1, 9, 5, 7, 4, 4]) == 4.5
    assert found.spread == pytest.approx((6 - 4) / 4.5)
    assert found.model_dump()["median"] == 4.5


@pytest.mark.parametrize("percent", [0, 50, 90, 99, 100])
def test_percentiles_are_numpys(percent: int) -> None:
    """Percentiles are taken over the calls of all rounds, interpolated as in NumPy."""
    seconds = np.random.default_rng(1).random((5, 40))
    found = Timing(seconds=tuple(map(tuple, seconds))).percentile(percent)
    assert found == pytest.approx(np.percentile(seconds, percent))


def test_tasks_take_turns_after_a_warm_up() -> None:
    """Each call is made once a round, and the warm-up's are not kept."""
    made: list[str] = []
    told: list[str] = []
    calls = {"a": ["a1", "a2"], "b": ["b"]}
    tasks = {name: [partial(made.append, one) for one in ones] for name, ones in calls.items()}
    found = in_turns(tasks, 2, told.append)
    assert made == ["a1", "a2", "b"] * 3
    assert told == ["warm-up", "round 1 of 2", "round 2 of 2"]
    assert [len(calls) for calls in found["a"].seconds] == [2, 2]
    assert [len(calls) for calls in found["b"].seconds] == [1, 1]


def test_speed_is_over_the_median() -> None:
    """Texts and tokens of a call, divided by its seconds."""
    row = sample_figures().workloads[0].rows[0]
    assert row.texts_per_second == pytest.approx(1000 / 3)
    assert row.tokens_per_second == pytest.approx(34_000 / 3)
    assert row.latency is None


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
