"""Choose the golden cases that fit inside a model file."""

from collections.abc import Iterable

from polybake.base.modelfile.container import ascii_json
from polybake.base.modelfile.fixture import Case

#: The most bytes of the fixture's JSON, which every client reads when it opens the file.
LARGEST = 200_000

#: Further bytes for kinds of cases that would not fit at all: a row may be as wide as a
#: vocabulary, or hold all tokens of a long text.
LARGEST_KINDS = 4_000_000

#: The bytes that are left for all that is not a case.
_ENVELOPE = 1_000

#: The flags of which one case represents many.
_ALIKE = {"prompt", "unicode", "user"}


def embedded_cases(cases: Iterable[Case]) -> tuple[Case, ...]:
    """Keep each case that still fits, in the given order of priority, and a case of each kind."""
    kept: list[Case] = []
    kinds: set[object] = set()
    room, more = LARGEST - _ENVELOPE, LARGEST_KINDS
    for case in cases:
        size = len(ascii_json(case.model_dump(mode="json", exclude_none=True))) + 1
        kind = case.flags if _ALIKE.intersection(case.flags) else case.id
        if size <= room:
            room -= size
        elif kind not in kinds and size <= more:
            more -= size
        else:
            continue
        kinds.add(kind)
        kept.append(case)
    return tuple(kept)
