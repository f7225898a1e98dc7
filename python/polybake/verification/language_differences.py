"""The differences between the languages' vectors, whatever the golden vectors are."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

from polybake.base.modelfile.tolerance import Embeddings, differences


@dataclass(frozen=True)
class LanguageDifference:
    """The largest difference of an element between two languages on a device."""

    device: str
    languages: tuple[str, str]
    difference: float
    case: str
    row: int


def language_differences(
    device: str, vectors: Mapping[str, Mapping[str, Embeddings]], *, packed_bits: bool = False
) -> Iterator[LanguageDifference]:
    """Compare the vectors, ``[texts, dimension]`` by case, of each pair of languages.

    Pairs that share no case are left out. Of packed bits the difference counts bits.
    """
    for pair in combinations(sorted(vectors), 2):
        first, second = (vectors[language] for language in pair)
        maxima = []
        for case in first:
            if case in second and first[case].size:
                rows = differences(first[case], second[case], packed_bits=packed_bits).max(axis=1)
                row = int(rows.argmax())
                maxima.append(LanguageDifference(device, pair, float(rows[row]), case, row))
        if maxima:
            yield max(maxima, key=lambda maximum: maximum.difference)
