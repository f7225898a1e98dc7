"""Compare a client's answer with the golden one: words and places exactly, scores nearly."""

from collections.abc import Mapping, Sequence
from typing import Any

#: How far a score may lie from the golden score.
LIMIT = 1e-5

_SCORE = "score"


def compare_answers(
    golden: object, found: object, *, top: int | None = None, place: str = "answer"
) -> str | None:
    """Return the first difference with its place; None if there is none.

    Entries with scores are ranked, and entries of equal score may have any order. If a list was cut
    and several are equal to its last entry, any of them may be there: the others are unknown.
    """
    if isinstance(golden, list) and isinstance(found, list):
        if len(golden) != len(found):
            return f"{place} has {len(found)} entries, expected {len(golden)}"
        if _ranked(golden) and _ranked(found):
            found = _in_order_of(golden, found)
            found = _without_ties(golden, found) if len(golden) == top else found
        parts = (
            compare_answers(entry, other, top=top, place=f"{place}[{number}]")
            for number, (entry, other) in enumerate(zip(golden, found, strict=True))
        )
        return next(filter(None, parts), None)
    if isinstance(golden, dict) and isinstance(found, dict):
        if golden.keys() != found.keys():
            return f"{place} has {', '.join(found)}, expected {', '.join(golden)}"
        parts = (
            compare_answers(golden[key], found[key], top=top, place=f"{place}.{key}")
            for key in golden
        )
        return next(filter(None, parts), None)
    if isinstance(golden, float) and isinstance(found, int | float) and not isinstance(found, bool):
        near = abs(golden - found) <= LIMIT * max(1.0, abs(golden))
        return None if near else f"{place} is {found!r}, expected {golden!r}"
    same = type(golden) is type(found) and golden == found
    return None if same else f"{place} is {found!r:.100}, expected {golden!r:.100}"


def _ranked(entries: Sequence[object]) -> bool:
    return all(isinstance(entry, dict) and _SCORE in entry for entry in entries)


def _in_order_of(golden: Sequence[Any], answer: Sequence[Any]) -> list[Any]:
    """Return the entries of ``answer``; nearly equal scores get the golden entries' places."""
    places = {_without_score(entry): number for number, entry in enumerate(golden)}
    ordered, group = list[Any](), list[Any]()
    for entry in answer:
        if group and abs(group[-1][_SCORE] - entry[_SCORE]) > LIMIT:
            ordered += _placed(group, places, len(ordered))
            group = []
        group.append(entry)
    return ordered + _placed(group, places, len(ordered))


def _placed(group: Sequence[Any], places: Mapping[str, int], first: int) -> list[Any]:
    """Order tied entries by their golden positions; other entries fill the positions left."""
    known = {places.get(_without_score(entry), -1): entry for entry in group}
    here = range(first, first + len(group))
    others = iter([entry for entry in group if places.get(_without_score(entry), -1) not in here])
    return [known[index] if index in known else next(others, group[0]) for index in here]


def _without_ties(golden: Sequence[Any], answer: Sequence[Any]) -> list[Any]:
    """Replace unknown entries with the last entry's score by the golden entry at their place."""
    known = {_without_score(entry) for entry in golden}
    last = golden[-1][_SCORE] if golden else 0.0
    return [
        expected
        if _without_score(entry) not in known
        and max(abs(item[_SCORE] - last) for item in (entry, expected)) <= LIMIT
        else entry
        for expected, entry in zip(golden, answer, strict=True)
    ]


def _without_score(entry: dict[str, Any]) -> str:
    return repr({key: value for key, value in sorted(entry.items()) if key != _SCORE})
