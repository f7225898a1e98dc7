"""A model taken apart gives what it gives whole."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import polybake
from models.folders.tiny_folders import write_bert
from models.onnx.tiny_onnx import POOLED, encoder, write_encoder
from polybake.runtime.embedder import Embedder
from polybake.study.diagnose.departures.known import departures
from polybake.study.diagnose.dissection import Dissection
from polybake.study.diagnose.way import Way, Ways

TEXTS = ["a boat", "the river", "water, the boat."]
MEAN = {"step": "pool", "mode": "mean"}
UNIT = {"step": "normalize"}
STEPS: dict[str, list[dict[str, Any]]] = {
    "one": [MEAN],
    "several": [
        MEAN,
        {"step": "scale", "factor": 3},
        {"step": "dropout"},
        {"step": "truncate", "dimension": 8},
        UNIT,
    ],
    "ids": [{"step": "leave_out", "ids": [5, 6]}, {"step": "pool", "mode": ["mean", "max"]}, UNIT],
    "prompt": [{"step": "pool", "mode": "mean", "include_prompt": False}, UNIT],
    "routes": [
        MEAN,
        {"step": "route", "default": "query", "routes": {"query": [], "document": [UNIT]}},
    ],
}


@pytest.mark.parametrize("kind", STEPS)
def test_step_by_step_is_the_whole(kind: str, tmp_path: Path) -> None:
    """The parts give the whole model's vectors, for any step."""
    model = tmp_path / "m.onnx"
    prompts = {"query": "the ", "document": "water "}
    folder = write_bert(tmp_path / "bert")
    polybake.bake(folder, model, steps=STEPS[kind], prompts=prompts)
    apart = Dissection.read(model)
    for prompt in (None, *prompts):
        own = Embedder(model).embed(TEXTS, prompt=prompt)
        np.testing.assert_allclose(Ways(apart, TEXTS, prompt).vectors(Way()), own, atol=1e-6)


def test_its_parts_have_names(dissected: Dissection) -> None:
    """Two layers and each step can be read, and the last layer's output is the encoder's."""
    assert len(dissected.layers) == 1
    assert len(dissected.states) == 3
    assert dissected.pooled_at == 0


def test_two_equal_steps_are_told_apart(tmp_path: Path) -> None:
    """Their places name them; a step that is alone needs none."""
    cut = {"step": "truncate", "dimension": 8}
    folder = write_bert(tmp_path / "bert")
    polybake.bake(folder, tmp_path / "m.onnx", steps=[MEAN, UNIT, cut, UNIT])
    names = {one.name for one in departures(Dissection.read(tmp_path / "m.onnx"), None, 8)}
    assert {one for one in names if one.startswith("leaves out") and "step" in one} == {
        "leaves out step 2, normalize()",
        "leaves out the step truncate(dimension=8, renormalize=False)",
        "leaves out step 4, normalize()",
    }


@pytest.mark.parametrize("pooled", [False, True], ids=["tokens", "pooled"])
def test_an_exported_encoder(pooled: bool, tmp_path: Path) -> None:
    """The nodes of an export have no names that tell its parts."""
    write_encoder(tmp_path / "source", *([encoder(outputs=POOLED)] if pooled else []))
    steps = [UNIT] if pooled else [MEAN, UNIT]
    model = tmp_path / "m.onnx"
    polybake.bake(tmp_path / "source/model.onnx", model, name="m", steps=steps)
    apart = Dissection.read(model)
    assert apart.layers == ()
    assert apart.pooled_at == (None if pooled else 0)
    own = Embedder(model).embed(TEXTS)
    np.testing.assert_allclose(Ways(apart, TEXTS, None).vectors(Way()), own, atol=1e-6)


def test_a_diagnosis_begins_without_onnxscript() -> None:
    """Importing onnxscript took half the time of a short diagnosis."""
    code = "import sys, polybake.study.diagnose.diagnose; sys.exit('onnxscript' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
