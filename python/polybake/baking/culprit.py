"""Find what is at fault where a graph is not what its steps give in NumPy."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from polybake.steps import Step
from polybake.steps.step import Floats

#: Of an embedding's length: less than that shows float32's rounding.
_LEAST_LEFT = 1e-3


def culprit(stages: Sequence[Floats], steps: Sequence[Step]) -> str:
    """Say what is at fault and how to mend it.

    Args:
        stages: What the encoder alone gave, without padding, and each step after it in NumPy.
        steps: Those steps.
    """
    names = ["the encoder alone", *(f"the step {step}" for step in steps)]
    for name, result in zip(names, stages, strict=True):
        if not np.isfinite(result).all():
            return f"{name} gives NaN or infinity; mend its weights or its function"
    for step, before, after in zip(steps, stages, stages[1:], strict=False):
        if not _keeps_something(before, after):
            return (
                f"the step {step} leaves less than {_LEAST_LEFT:g} of an embedding's length, "
                "so that rounding shows; let it remove less, or leave it out"
            )
    if not steps:
        return "the encoder gives other numbers each time; export it without random numbers"
    return (
        f"the two forms of a step differ, of: {', '.join(map(str, steps))}; let a python step, and "
        "its reference, compute the same for each row by itself, without state and random numbers"
    )


def _keeps_something(before: Floats, after: Floats) -> bool:
    if before.ndim != 2 or after.ndim != 2 or len(before) != len(after):
        return True
    lengths, left = (np.linalg.norm(x, axis=1) for x in (before, after))
    return not (left < _LEAST_LEFT * lengths).any()
