"""The vectors that clients must give."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from polybake.base.modelfile.fixture import Tolerance
from polybake.runtime.embedder import Embedder
from polybake.study.bench.expected import expected

TEXTS = ["one", "", "two words", "a", "b c"]


def test_the_models_own_vectors(every_feed: Path) -> None:
    """Vectors and ids are the model's own, in the order of the texts."""
    embedder = Embedder(every_feed)
    golden = expected(embedder, "own", TEXTS)
    assert np.array_equal(golden.vectors, embedder.embed(TEXTS))
    assert [list(row) for row in golden.case.input_ids] == embedder.tokenize(TEXTS)
    assert golden.slack is None


def test_integers_may_differ_at_an_edge(bits: Path) -> None:
    """Each element has its slack, and hardly any has more than none."""
    golden = expected(Embedder(bits), "own", TEXTS)
    assert golden.slack is not None
    assert golden.slack.packed_bits
    assert golden.slack.values.shape == golden.vectors.shape == (5, 1)
    assert np.unpackbits(golden.slack.values).mean() < 0.05


def test_how_much_is_what_the_file_says(bits: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A wider tolerance in the file means more elements with slack."""
    embedder = Embedder(bits)
    wide = {"cpu": Tolerance(max_abs=0.2, one_minus_cosine=0.1)}
    fixture = embedder.head.fixture.model_copy(update={"tolerances": wide})
    monkeypatch.setitem(vars(embedder.head), "fixture", fixture)
    golden = expected(embedder, "own", TEXTS)
    assert golden.slack is not None
    assert np.unpackbits(golden.slack.values).mean() > 0.3
