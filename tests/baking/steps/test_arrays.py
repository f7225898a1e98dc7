"""The arrays that steps hold."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from pydantic import TypeAdapter, ValidationError

from polybake.baking.steps.arrays import Matrix, Vector


@pytest.mark.parametrize(
    ("kind", "array", "shown"),
    [
        (Vector, np.float32([1, np.nan]), r"found nan at \[1\] \(1 of 2 are not finite\); make"),
        (Vector, np.float32([-np.inf]), r"found -inf at \[0\] \(1 of 1 are not finite\); make"),
        (Matrix, np.float32([[1, 2], [np.inf, np.nan]]), r"found inf at \[1, 0\] \(2 of 4 are"),
    ],
)
def test_names_what_is_not_finite(kind: object, array: NDArray[np.float32], shown: str) -> None:
    """The first number that is not finite is named with its place."""
    # The arrays' own types need pydantic's leave, which a step gives.
    adapter = TypeAdapter(kind, config={"arbitrary_types_allowed": True})
    with pytest.raises(ValidationError, match=f"expected finite numbers, {shown}"):
        adapter.validate_python(array)
