"""The parts of two model files."""

from __future__ import annotations

from pathlib import Path

import pytest

from models.files.varied import change_weight, write_varied
from models.files.weights_beside import move_weights
from polybake.errors import CheckFailed
from polybake.study.diff.graphs import compare_graphs
from polybake.study.diff.parts import compare_parts


def test_a_name_decides_no_vector(every_feed: Path, tmp_path: Path) -> None:
    """A change of the manifest alone is shown, and the files count as the same."""
    renamed = write_varied(every_feed, tmp_path / "b.onnx", name="other", precision="int8")
    parts = compare_parts(every_feed, renamed)
    assert parts.same
    assert [f"{one.place}: {one.change}" for one in parts.changes_of("manifest")] == [
        'manifest.name: "every-feed" -> "other"',
        'manifest.precision: "float32" -> "int8"',
    ]


def test_each_deciding_part_is_seen(every_feed: Path, tmp_path: Path) -> None:
    """Changes of graph, tokenizer and contract are each seen alone."""
    changes = {
        "graph": {"graph": change_weight("type_rows", lambda rows: rows * 2)},
        "tokenizer": {"tokenizer": lambda words: words["normalizer"].update(lowercase=False)},
        "contract": {"contract": lambda terms: terms["prompts"].update(query="Query: ")},
    }
    for part, change in changes.items():
        varied = write_varied(every_feed, tmp_path / f"{part}.onnx", **change)
        parts = compare_parts(every_feed, varied)
        assert [one for one in changes if parts.differs(one)] == [part]
        assert not parts.same
        assert parts.obstacle is None


def test_a_graph_that_was_changed_is_not_compared(every_feed: Path, tmp_path: Path) -> None:
    """A changed graph is refused, as its digest would claim that it is the same."""
    data = bytearray(every_feed.read_bytes())
    data[-1] ^= 1
    (tmp_path / "b.onnx").write_bytes(data)
    with pytest.raises(CheckFailed, match="the graph does not match its digest"):
        compare_parts(every_feed, tmp_path / "b.onnx")


@pytest.mark.parametrize(
    ("other", "shown", "searchable"),
    [
        ("every_feed_int8", "another type (float32, int8)", True),
        ("every_feed_bits", "another dimension (7, 56)", True),
        ("tiny_rerank", "another task (embed, rerank)", False),
        ("tiny_multi_vector", "another task (embed, multi-vector)", False),
    ],
)
def test_what_gives_other_things_cannot_be_compared(
    every_feed: Path, other: str, shown: str, searchable: bool, request: pytest.FixtureRequest
) -> None:
    """Other vectors of the same task can still be searched, each by itself."""
    parts = compare_parts(every_feed, request.getfixturevalue(other))
    assert parts.obstacle == shown
    assert parts.runnable == parts.searchable == searchable


def test_an_index_keeps_vectors_and_no_scores(
    every_feed: Path, tiny_multi_vector: Path, tiny_rerank: Path
) -> None:
    """Models with several vectors a text are indexed, but have no ten neighbours here."""
    found = {
        model: compare_parts(model, model) for model in (every_feed, tiny_multi_vector, tiny_rerank)
    }
    assert [one.indexed for one in found.values()] == [True, True, False]
    assert [one.searchable for one in found.values()] == [True, False, False]


def test_a_prompt_that_is_gone_is_named(every_feed: Path, tmp_path: Path) -> None:
    """A prompt that was removed is named; an added one is not."""
    fewer = write_varied(
        every_feed, tmp_path / "b.onnx", contract=lambda terms: terms["prompts"].pop("query")
    )
    assert compare_parts(every_feed, fewer).prompts_gone == ["query"]
    assert compare_parts(fewer, every_feed).prompts_gone == []


def test_weights_beside_a_graph_are_part_of_it(every_feed: Path, tmp_path: Path) -> None:
    """The graph's own bytes say where its weights lie, and not what they are."""
    varied = write_varied(
        every_feed, tmp_path / "v.onnx", graph=change_weight("token_rows", lambda rows: rows * 2)
    )
    one, other = (
        move_weights(path, tmp_path / name / "m.onnx")
        for name, path in (("one", every_feed), ("other", varied))
        if (tmp_path / name).mkdir() is None
    )
    parts = compare_parts(one, other)
    assert parts.before.digests.tail == parts.after.digests.tail
    assert parts.differs("graph")
    assert not parts.same
    assert compare_parts(one, one).same
    (change,) = compare_graphs(one, other)
    assert [weight.name for weight in change.weights] == ["token_rows"]
