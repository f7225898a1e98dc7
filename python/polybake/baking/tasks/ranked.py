"""Labels in the order of their scores."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import JsonValue


def ranked(labels: Sequence[str], scores: NDArray[np.number[Any]]) -> list[JsonValue]:
    """Return each row's labels with scores, best first; equal scores in the labels' order."""
    return [
        [
            {"label": labels[place], "score": float(row[place])}
            for place in np.argsort(-row, kind="stable")
        ]
        for row in scores
    ]
