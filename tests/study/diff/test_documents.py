"""The differences of two JSON documents, in words."""

from __future__ import annotations

import pytest
from pydantic import JsonValue

from polybake.study.diff.documents import document_changes

MANY: dict[str, JsonValue] = {str(number): number for number in range(20)}


@pytest.mark.parametrize(
    ("before", "after", "shown"),
    [
        ({"a": 1, "b": [{"c": 2}]}, {"a": 1, "b": [{"c": 3}]}, ["x.b[0].c: 2 -> 3"]),
        ({"a": 1, "b": 2}, {"b": 2, "c": None}, ["x.a: removed: 1", "x.c: added: null"]),
        (1, True, ["x: 1 -> true"]),
        (1, 1.0, ["x: 1 -> 1.0"]),
        ({"a": {}}, {"a": None}, ["x.a: {} -> null"]),
        ([1, 2], [2], ["x: of 2 entries 1 removed (1)"]),
        ([*range(20)], [*range(19, -1, -1)], ["x: of 20 entries the same in another order"]),
        ("a" * 99, "b", [f'x: "{"a" * 58}… -> "b"']),
    ],
)
def test_each_place_is_named(before: JsonValue, after: JsonValue, shown: list[str]) -> None:
    """Every change shows its place, the old value and the new one."""
    found = [f"{one.place}: {one.change}" for one in document_changes(before, after, "x")]
    assert found == shown


def test_a_vocabulary_is_one_place() -> None:
    """Renumbered tokens are counted, each group with its first ones."""
    after = {key: number + 1 for key, number in MANY.items() if key != "0"} | {"new": 0}
    (found,) = document_changes({"vocab": MANY}, {"vocab": after}, "model")
    assert found.place == "model.vocab"
    assert found.change == "of 20 entries 1 added (new), 1 removed (0), 19 changed (1, 2, 3, …)"


def test_equal_documents_have_none() -> None:
    """Documents are equal if only the order of their keys differs."""
    assert not [*document_changes({"a": 1, "b": [1]}, {"b": [1], "a": 1}, "x")]
