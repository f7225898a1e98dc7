"""What clients must give."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from polybake.benchmark.expected import expected
from polybake.runtime.embedder import Embedder

TEXTS = ["one", "", "two words", "a", "b c"]


def test_the_models_own_vectors(every_feed: Path) -> None:
    """With their ids, in the order of the texts."""
    embedder = Embedder(every_feed)
    golden = expected(embedder, "own", TEXTS)
    assert np.array_equal(golden.vectors, embedder.embed(TEXTS))
    assert [list(row) for row in golden.case.input_ids] == embedder.tokenize(TEXTS)
    assert golden.slack is None


def test_integers_may_differ_at_an_edge(bits: Path) -> None:
    """There is slack for each element, and hardly anywhere is it more than none."""
    golden = expected(Embedder(bits), "own", TEXTS)
    assert golden.slack is not None
    assert golden.slack.packed_bits
    assert golden.slack.values.shape == golden.vectors.shape == (5, 1)
    assert np.unpackbits(golden.slack.values).mean() < 0.05
