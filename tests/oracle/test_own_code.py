"""Models that bring their own code against formulas that were written from it.

The code is not run. A text is embedded alone, in float64, and its tokens' mean is its vector.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from models.folders.tiny_folders import write_bert
from models.formulas import jina_bert_numpy, neobert_numpy, nomic_moe_numpy
from models.formulas.rotary_numpy import Floats, Weights
from polybake.base.modelfile.fixture import Case
from support.oracle.agreement import Agreement, agreement_case_by_case, bake_source
from support.oracle.proven import HUGGING_FACE, Proven

Forward = Callable[[Weights, NDArray[np.int64]], Floats]
KINDS: dict[str, tuple[dict[str, Any], dict[str, Floats], Forward]] = {
    "jina_bert": (jina_bert_numpy.CONFIG, jina_bert_numpy.weights(), jina_bert_numpy.forward),
    "jina_bert_qk": (
        jina_bert_numpy.CONFIG,
        jina_bert_numpy.weights(code=True),
        jina_bert_numpy.forward_code,
    ),
    "neobert": (neobert_numpy.CONFIG, neobert_numpy.weights(), neobert_numpy.forward),
    "nomic_bert, experts": (
        nomic_moe_numpy.CONFIG,
        nomic_moe_numpy.weights(),
        nomic_moe_numpy.forward,
    ),
}


def agreement_with_formula(
    folder: Path, out: Path, weights: dict[str, Floats], forward: Forward
) -> Agreement:
    """Bake a folder with the mean of its tokens, and compare every golden case."""
    exact = {name: array.astype(np.float64) for name, array in weights.items()}

    def given(case: Case) -> dict[str, Any]:
        return {"embeddings": [forward(exact, np.array(ids)).mean(0) for ids in case.input_ids]}

    return agreement_case_by_case(bake_source(folder, out), given)


@pytest.mark.parametrize("kind", KINDS)
def test_agrees_with_its_formula(kind: str, tmp_path: Path, proven: Proven) -> None:
    """Vectors agree for every built-in case, the longest text and batches among them."""
    config, weights, forward = KINDS[kind]
    folder = write_bert(tmp_path / "model", config, weights)
    found = agreement_with_formula(folder, tmp_path / "tiny.onnx", weights, forward)
    proven(kind, found, source=HUGGING_FACE)
