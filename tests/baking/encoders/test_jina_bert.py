"""Pairs of JinaBERT against its formula; tests/oracle/test_own_code.py has single texts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from models.folders.tiny_folders import write_bert
from models.formulas.jina_bert_numpy import CONFIG, forward, forward_code, weights
from models.formulas.rotary_numpy import IDS, MASK
from polybake.baking.sources import open_source
from polybake.runtime.session import open_session


@pytest.mark.parametrize("code", [False, True])
def test_a_pair_has_types(code: bool, tmp_path: Path) -> None:
    """The second text of a pair is of type 1, in either form."""
    drawn = weights(code=code)
    source = open_source(write_bert(tmp_path / "model", CONFIG, drawn))
    reference = source.encoder.for_pairs(lambda: True).reference(tmp_path)
    kinds = np.array([[0] * 4 + [1] * 4])
    fed = {"input_ids": IDS[:1], "attention_mask": MASK[:1], "token_type_ids": kinds}
    (found,) = open_session(reference.path).run([reference.output], fed)[0]
    exact = {name: array.astype(np.float64) for name, array in drawn.items()}
    expected = (forward_code if code else forward)(exact, IDS[0], kinds[0])
    np.testing.assert_allclose(found, expected, atol=2e-6 * np.abs(expected).max())
