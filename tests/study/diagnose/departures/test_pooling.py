"""The modes of pooling are those of the step, whose package takes seconds to import."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from polybake.baking.steps.pooling_modes import POOLING_MODES
from polybake.baking.steps.state import State
from polybake.steps import Pool
from polybake.study.diagnose.departures.pooling import MODES, pooled


def test_every_mode_of_the_step_is_known() -> None:
    """Both lists have the same modes, in the same order."""
    assert list(MODES) == list(POOLING_MODES)


@pytest.mark.parametrize("mode", MODES)
def test_a_mode_gives_what_the_step_gives(mode: str) -> None:
    """Vectors equal the step's for padding on either side and for a row without tokens."""
    x = np.random.default_rng(0).normal(size=(4, 5, 3)).astype(np.float32)
    mask = np.asarray([[1, 1, 1, 0, 0], [0, 0, 1, 1, 1], [1, 1, 1, 1, 1], [0, 0, 0, 0, 0]])
    expected = Pool(mode=mode).numpy(State(x=x, input_ids=mask, attention_mask=mask)).x
    np.testing.assert_allclose(pooled(mode, x, mask.astype(np.float32)), expected, atol=1e-6)


def test_a_diagnosis_begins_without_onnxscript() -> None:
    """Importing onnxscript took half the time of a short diagnosis."""
    code = "import sys, polybake.study.diagnose.diagnose; sys.exit('onnxscript' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
