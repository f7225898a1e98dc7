"""What is exported is judged by the file's own golden cases."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from polybake.base.modelfile.container import read_head
from polybake.base.modelfile.fixture import decode_vectors
from polybake.errors import CheckFailed
from polybake.shipping.export.golden_cases import reproduced


def test_the_largest_difference_is_given(every_feed: Path) -> None:
    """The difference is the largest of all cases, not that of the last one."""
    head = read_head(every_feed)
    last = head.fixture.cases[-1]
    found = reproduced(
        head,
        lambda case: decode_vectors(case.embeddings) + np.float32(0 if case is last else 4e-6),
    )
    assert 3e-6 < found < 5e-6


def test_other_vectors_fail_by_the_case_s_name(every_feed: Path) -> None:
    """One element beyond the tolerance is enough."""
    head = read_head(every_feed)

    def moved(case) -> np.ndarray:
        vectors = decode_vectors(case.embeddings)
        vectors[-1, -1] += 1e-3 if case.id == "query" else 0
        return vectors

    with pytest.raises(CheckFailed, match=r"case query gives other vectors: row 1, element 6"):
        reproduced(head, moved)
