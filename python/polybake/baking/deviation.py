"""How far a graph of lower precision lies from the exact one."""

from collections.abc import Sequence

import numpy as np

from polybake.modelfile.fixture import Case, decode_vectors
from polybake.modelfile.manifest import Deviation


def measure_deviation(exact: Sequence[Case], found: Sequence[Case]) -> Deviation:
    """Compare the vectors of the same cases, text by text.

    Args:
        exact: What the float32 graph gave.
        found: What the graph of lower precision gives.
    """
    golden = {case.id: decode_vectors(case.embeddings) for case in exact}
    pairs = [
        (golden[case.id].astype(np.float64), decode_vectors(case.embeddings).astype(np.float64))
        for case in found
        if case.id in golden
    ]
    before, after = (np.concatenate(side) for side in zip(*pairs, strict=True))
    norms = np.linalg.norm(before, axis=1) * np.linalg.norm(after, axis=1)
    cosines = (before * after).sum(axis=1)[norms > 0] / norms[norms > 0]
    return Deviation(
        max_abs=float(np.abs(before - after).max()),
        mean_cosine=float(cosines.mean()),
        min_cosine=float(cosines.min()),
    )
