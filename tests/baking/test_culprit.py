"""What a failed proof is said to be the fault of."""

from __future__ import annotations

import re

import numpy as np
import pytest
from numpy.typing import NDArray

from polybake.baking.culprit import culprit
from polybake.steps import Normalize, Scale, Step

X = np.array([[3.0, 4.0], [0.0, 1.0]])
STEPS: list[Step] = [Scale(factor=2.0), Normalize()]


@pytest.mark.parametrize(
    ("stages", "shown"),
    [
        ([X * np.nan, X, X], "the encoder alone gives NaN or infinity; mend"),
        ([X, X - np.inf, X], r"the step scale\(factor=2\.0\) gives NaN or infinity; mend"),
        ([X, X * 1e-7, X], r"the step scale\(factor=2\.0\) leaves less than 0\.001 of .*; let it"),
        ([X, X, X], r"two forms of a step differ, of: scale\(factor=2\.0\), normalize\(\); let"),
    ],
)
def test_names_the_first_stage_at_fault(stages: list[NDArray[np.float64]], shown: str) -> None:
    """NaN and nothing but rounding belong to one stage; else the forms of a step differ."""
    assert re.search(shown, culprit(stages, STEPS))


def test_an_encoder_without_steps() -> None:
    """Where no step is there to blame, the encoder draws random numbers."""
    assert culprit([X], []).endswith("export it without random numbers")
