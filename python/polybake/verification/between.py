"""How far the languages lie from each other, whatever the golden vectors say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

from polybake.modelfile.slack import Embeddings, differences


@dataclass(frozen=True)
class Between:
    """The largest difference of one element between two languages on one device."""

    device: str
    languages: tuple[str, str]
    difference: float
    case: str
    row: int


def between_languages(
    device: str, vectors: Mapping[str, Mapping[str, Embeddings]], *, packed_bits: bool = False
) -> tuple[Between, ...]:
    """Compare what embed gave in each pair of languages.

    Args:
        device: where they ran.
        vectors: ``[texts, dimension]`` by language and case; pairs that share no case are left
            out.
        packed_bits: whether an element is eight bits; their difference is how many differ.
    """
    pairs = combinations(sorted(vectors), 2)
    found = (
        _between(device, pair, vectors[pair[0]], vectors[pair[1]], packed_bits) for pair in pairs
    )
    return tuple(between for between in found if between)


def _between(
    device: str,
    languages: tuple[str, str],
    first: Mapping[str, Embeddings],
    second: Mapping[str, Embeddings],
    packed_bits: bool,
) -> Between | None:
    worst: Between | None = None
    for case in first:
        if case in second and first[case].size:
            rows = differences(first[case], second[case], packed_bits=packed_bits).max(axis=1)
            row = int(rows.argmax())
            if worst is None or rows[row] > worst.difference:
                worst = Between(device, languages, float(rows[row]), case, row)
    return worst
