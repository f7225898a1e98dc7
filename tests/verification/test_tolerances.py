"""docs/tolerances.md says what is in force."""

from __future__ import annotations

from pathlib import Path

import pytest

from polybake.base.modelfile.fixture import TOLERANCES

PAGE = Path(__file__).parents[2] / "docs" / "tolerances.md"


@pytest.mark.parametrize(("device", "row"), [("cpu", "on the CPU"), ("cuda", "on CUDA")])
def test_documented_limits_are_in_force(device: str, row: str) -> None:
    """The table of limits has the numbers that fixtures carry."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    (line,) = [line for line in lines if line.startswith("| float32") and row in line]
    max_abs, one_minus_cosine = (float(cell) for cell in line.strip("|").split("|")[1:])
    tolerance = TOLERANCES[device]
    assert (tolerance.max_abs, tolerance.one_minus_cosine) == (max_abs, one_minus_cosine)
