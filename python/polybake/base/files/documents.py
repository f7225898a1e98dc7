"""Describe where two JSON documents differ."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

#: More differences than this within an object or a list are counted instead of listed.
_LISTED = 8

#: The most characters that are shown of a value.
_SHOWN = 60


@dataclass(frozen=True)
class Change:
    """A difference of two documents at one place.

    Attributes:
        place: The place, such as ``contract.max_length``.
        change: The difference in words, such as ``128 -> 256``.
    """

    place: str
    change: str


def document_changes(before: JsonValue, after: JsonValue, place: str) -> Iterator[Change]:
    """Yield each place that differs, in the documents' order; a vocabulary is one place."""
    if isinstance(before, dict) and isinstance(after, dict):
        yield from _object_changes(before, after, place)
    elif isinstance(before, list) and isinstance(after, list):
        yield from _list_changes(before, after, place)
    elif _canonical(before) != _canonical(after):  # in JSON 1 is neither true nor 1.0
        yield Change(place, f"{_short(before)} -> {_short(after)}")


def _object_changes(
    before: Mapping[str, JsonValue], after: Mapping[str, JsonValue], path: str
) -> Iterator[Change]:
    removed = [key for key in before if key not in after]
    added = [key for key in after if key not in before]
    changed = [
        key for key in before if key in after and _canonical(before[key]) != _canonical(after[key])
    ]
    if len(removed) + len(added) + len(changed) > _LISTED:
        groups = {"added": added, "removed": removed, "changed": changed}
        yield Change(path, f"of {len(before)} entries {_counted(groups)}")
        return
    yield from (Change(f"{path}.{key}", f"removed: {_short(before[key])}") for key in removed)
    yield from (Change(f"{path}.{key}", f"added: {_short(after[key])}") for key in added)
    for key in changed:
        yield from document_changes(before[key], after[key], f"{path}.{key}")


def _list_changes(
    before: Sequence[JsonValue], after: Sequence[JsonValue], path: str
) -> Iterator[Change]:
    left, right = map(_canonical, before), map(_canonical, after)
    if len(before) == len(after):
        pairs = enumerate(zip(left, right, strict=True))
        odd = [at for at, (entry, other) in pairs if entry != other]
        if len(odd) <= _LISTED:
            for at in odd:
                yield from document_changes(before[at], after[at], f"{path}[{at}]")
            return
        left, right = map(_canonical, before), map(_canonical, after)
    had, has = Counter(left), Counter(right)
    groups = {"added": [*(has - had).elements()], "removed": [*(had - has).elements()]}
    counted = _counted(groups) or "the same in another order"
    yield Change(path, f"of {len(before)} entries {counted}")


def _counted(groups: Mapping[str, Sequence[str]]) -> str:
    """Return text such as ``2 added ("a", "b"), 312 changed ("c", …)``; empty if all are empty."""
    return ", ".join(
        f"{len(names)} {word} ({', '.join(map(_cut, names[:3]))}{', …' * (len(names) > 3)})"
        for word, names in groups.items()
        if names
    )


def _canonical(value: JsonValue) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def _short(value: JsonValue) -> str:
    return _cut(json.dumps(value, ensure_ascii=False))


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
