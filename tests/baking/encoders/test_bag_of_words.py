"""Bags of words against counting."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import onnxruntime as ort
import pytest

from polybake.baking.encoders.bag_of_words import BagOfWords
from polybake.baking.graph.check import check_graph
from polybake.baking.sources.static_encoder import StaticEncoder

WEIGHTS = np.array([0.5, -2, 3, 0.25, 1], np.float32)
IDS = np.array([[1, 3, 1, 1, 4, 3, 2], [0, 0, 2, 0, 0, 0, 0], [0] * 7])
TOKENS = [7, 3, 0]


@pytest.mark.parametrize("cumulative", [True, False])
def test_counts_words(tmp_path: Path, cumulative: bool) -> None:
    """Padding counts nothing, and neither does a second time where only the first one does."""
    encoder = StaticEncoder("bow", lambda: BagOfWords(WEIGHTS, cumulative=cumulative))
    graph = encoder.place()
    graph.model.graph.outputs.append(graph.state.x)
    check_graph(graph.model)
    written = encoder.reference(tmp_path)
    mask = (np.arange(7) < np.array(TOKENS)[:, None]).astype(np.int64)
    session = ort.InferenceSession(str(written.path), providers=["CPUExecutionProvider"])
    (found,) = session.run(None, {"input_ids": IDS, "attention_mask": mask})
    expected = np.zeros((3, 5))
    for row, length in enumerate(TOKENS):
        for word, count in Counter(IDS[row, :length].tolist()).items():
            expected[row, word] = WEIGHTS[word] * (count if cumulative else 1)
    assert found == pytest.approx(expected, abs=1e-6)
