"""DeBERTa's buckets of relative positions."""

import numpy as np
from numpy.typing import NDArray


def log_buckets(last: int, *, buckets: int, furthest: int, span: int) -> NDArray[np.int64]:
    """Return the row of the relative embeddings for each distance from ``-last`` to ``last``.

    A distance is the key's position less the query's. Near distances have a row each. Distances
    beyond half of ``buckets`` share rows, logarithmically, up to ``furthest``. Without buckets all
    distances have a row each, up to ``span``.

    Source: transformers ``build_relative_position`` and ``make_log_bucket_position``, in float32.
    """
    before = -np.arange(-last, last + 1)
    if buckets > 0:
        middle = buckets // 2
        far = np.maximum(np.abs(before), middle).astype(np.float32) / np.float32(middle)
        steps = np.log(far) / np.log(np.float32((furthest - 1) / middle)) * np.float32(middle - 1)
        wide = np.sign(before) * (np.ceil(steps).astype(np.int64) + middle)
        before = np.where(np.abs(before) <= middle, before, wide)
    return np.clip(before + span, 0, 2 * span - 1)
