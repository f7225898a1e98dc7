"""Embedding with a baked model file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from polybake.errors import InputError
from polybake.fitting.embed import embed
from polybake.fixtures.golden import make_fixture
from polybake.fixtures.texts import CaseText
from polybake.modelfile.container import read_head
from polybake.modelfile.fixture import decode_vectors

TEXTS = [letter * count for count in range(1, 20) for letter in ("a", "b c ", "d, e. ", "")]


@pytest.mark.parametrize("prompt", [None, "document"])
def test_gives_each_text_its_vector(every_feed: Path, prompt: str | None) -> None:
    """Every text's own vector is given, in whatever order, with the prompt before it."""
    batches = list(embed(every_feed, read_head(every_feed), TEXTS, prompt))
    cases = [CaseText(str(i), "", (), prompt, (text,)) for i, text in enumerate(TEXTS)]
    expected = [decode_vectors(case.embeddings) for case in make_fixture(every_feed, cases).cases]
    found, wanted = np.concatenate(batches), np.concatenate(expected)
    assert len(batches) > 1
    assert in_order(found) == pytest.approx(in_order(wanted), abs=1e-6)


def in_order(rows: np.ndarray) -> np.ndarray:
    return rows[np.lexsort(rows.round(3).T)]


def test_names_an_unknown_prompt(every_feed: Path) -> None:
    """A prompt that the file does not have names the choices."""
    with pytest.raises(InputError, match="unknown prompt 'title'; choose one of: query, document"):
        list(embed(every_feed, read_head(every_feed), TEXTS, "title"))
