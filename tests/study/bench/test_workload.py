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
    """The default texts have the promised lengths in words, special tokens aside."""
    short, long, single = ([len(text.split()) for text in one.texts] for one in workloads())
    assert (len(short), len(long), single) == (1000, 200, [10])
    assert 31.5 < statistics.mean(short) < 32.5
    assert 15 < statistics.median(short) < 30
    assert 100 < max(short) <= 190
    assert 198 <= min(long) <= max(long) <= 252


def test_texts_are_the_same_everywhere() -> None:
    """Equal texts make figures of two machines, or two versions, comparable."""
    texts = "\n".join(text for one in workloads() for text in one.texts)
    assert (
        hashlib.sha256(texts.encode()).hexdigest()
        == "f7485b04de37413fc75a85045bf58d604c6ca5cd43f877ce3c932fb85a1d34b2"
    )


def test_models_of_pairs_get_the_same_texts() -> None:
    """Each text is paired with the first one, as documents are with a query."""
    paired = Workload("own", "", ("a", "b", "c")).paired()
    assert paired.texts == (("a", "a"), ("a", "b"), ("a", "c"))
    labelled = Workload("own", "", ("a", "b")).paired("<l>x")
    assert labelled.texts == (("<l>x", "a"), ("<l>x", "b"))


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
