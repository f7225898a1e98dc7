"""The likely cause of a wrong vector: a forgotten part of the wrapper, or a stage."""

from __future__ import annotations

import numpy as np

from polybake.base.modelfile.compare import Difference
from polybake.base.modelfile.slack import Embeddings
from polybake.verification.judging.golden import Golden, GoldenCase

#: Vectors this near to each other have the same direction; other texts lie much farther.
_SAME = 1e-5

#: The part of a length that rounding may change; without normalization lengths differ by more.
_ROUNDED = 1e-2


def likely_cause(
    found: Embeddings, golden: GoldenCase, difference: Difference, fixture: Golden
) -> str:
    """Return the likeliest cause of a difference of vectors ``[texts, dimension]``, in words.

    Among all cases of the fixture the same text may have another prompt.
    """
    row = difference.row or 0
    one = found[row].astype(np.float64)
    if not np.isfinite(one).all():
        return "look at the graph's output, before anything is made of it"
    if golden.slack is None and _alike(one, golden.vectors[row]):
        length, expected = (float(np.linalg.norm(each)) for each in (one, golden.vectors[row]))
        if abs(length - expected) < _ROUNDED * expected:
            return "it is nearly right: is it rounded, or made in a lower precision?"
        return (
            f"the direction is right, but the vector is {length:.3g} long, expected "
            f"{expected:.3g}: is it normalized as the model file does?"
        )
    for number, other in enumerate(golden.vectors):
        if _alike(one, other):
            return f"it is the vector of row {number}: are the rows in the order of the texts?"
    if len(golden.vectors) == len(golden.case.texts):
        for case in fixture.cases:
            for text, other in zip(case.case.texts, case.vectors, strict=False):
                if text == golden.case.texts[row] and _alike(one, other):
                    return (
                        f"it is the vector with prompt {case.case.prompt!r}, "
                        f"expected that with {golden.case.prompt!r}: is the prompt passed on?"
                    )
    return (
        "compare token ids first (check_ids): where they are equal, it is the graph or what follows"
    )


def _alike(one: Embeddings, other: Embeddings) -> bool:
    wide = other.astype(np.float64)
    lengths = np.linalg.norm(one) * np.linalg.norm(wide)
    return bool(lengths > 0 and 1 - one @ wide / lengths < _SAME)
