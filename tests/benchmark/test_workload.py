"""The texts that speed is measured with."""

from __future__ import annotations

import hashlib
import statistics

from polybake.benchmark.workload import workloads


def test_lengths() -> None:
    """In words; the special tokens come beside them."""
    short, long, single = ([len(text.split()) for text in one.texts] for one in workloads())
    assert (len(short), len(long), single) == (1000, 200, [10])
    assert 31.5 < statistics.mean(short) < 32.5
    assert 15 < statistics.median(short) < 30
    assert 100 < max(short) <= 190
    assert 198 <= min(long) <= max(long) <= 252


def test_texts_are_the_same_everywhere() -> None:
    """Figures of two machines, or of two versions, are those of the same work."""
    texts = "\n".join(text for one in workloads() for text in one.texts)
    assert (
        hashlib.sha256(texts.encode()).hexdigest()
        == "f7485b04de37413fc75a85045bf58d604c6ca5cd43f877ce3c932fb85a1d34b2"
    )
