"""The texts that speed is measured with."""

from __future__ import annotations

import hashlib
import statistics
from pathlib import Path

import pytest

from polybake.base.texts import open_corpus
from polybake.errors import InputError
from polybake.study.bench.workload import Workload, own_workloads, workloads


def test_lengths() -> None:
    """In words; the special tokens come beside them."""
    short, long, single = ([len(text.split()) for text in one.texts] for one in workloads())
    assert (len(short), len(long), single) == (1000, 200, [10])
    assert 31.5 < statistics.mean(short) < 32.5
    assert 15 < statistics.median(short) < 30
    assert 100 < max(short) <= 190
    assert 198 <= min(long) <= max(long) <= 252


def test_texts_are_the_same_everywhere() -> None:
    """Figures of two machines, or of two versions, are those of the same work."""
    texts = "\n".join(text for one in workloads() for text in one.texts)
    assert (
        hashlib.sha256(texts.encode()).hexdigest()
        == "f7485b04de37413fc75a85045bf58d604c6ca5cd43f877ce3c932fb85a1d34b2"
    )


def test_models_of_pairs_get_the_same_texts() -> None:
    """Each beside the first one, as a query's documents come."""
    paired = Workload("own", "", ("a", "b", "c")).paired()
    assert paired.texts == (("a", "a"), ("a", "b"), ("a", "c"))


def test_single_texts_are_calls_of_their_own() -> None:
    """As many in each round, so that there is a ninety-ninth of a hundred."""
    *many, single = workloads()
    assert [len(one.calls()) for one in many] == [1, 1]
    assert single.calls() == [single.texts] * 40
    assert Workload("own", "", ("a", "b"), single=True).calls() == [("a",), ("b",)] * 20


@pytest.mark.parametrize(("texts", "found"), [(1, 1), (40, 40), (41, 21), (100, 34)])
def test_a_part_is_taken_from_all_places(texts: int, found: int) -> None:
    """Not the beginning, whose texts may be of one kind."""
    part = Workload("own", "", tuple(map(str, range(texts)))).part(40)
    assert len(part) == found
    assert int(part[-1]) >= texts - 3


def test_own_texts(tmp_path: Path) -> None:
    """At once, and one by one; a row without a text is none."""
    file = tmp_path / "t.jsonl"
    file.write_text('{"text": "one"}\n{"text": null}\n{"text": ""}\n')
    whole, single = own_workloads(open_corpus(file))
    assert (whole.title, whole.texts, whole.single) == ("2 texts of t.jsonl", ("one", ""), False)
    assert (single.texts, single.single) == (("one", ""), True)


def test_no_texts_are_refused(tmp_path: Path) -> None:
    """The file is named."""
    (tmp_path / "t.txt").write_text("")
    with pytest.raises(InputError, match=r"t\.txt: has no texts; give a file with one text a line"):
        own_workloads(open_corpus(tmp_path / "t.txt"))
