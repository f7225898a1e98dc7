"""Golden cases made by running a baked file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from models.onnx.tiny_onnx import expected_tokens, write_encoder
from polybake.baking.bake import bake
from polybake.baking.golden.golden import cases_for, make_fixture
from polybake.baking.golden.texts import CaseText
from polybake.baking.sources import open_source
from polybake.base.modelfile.container import read_head
from polybake.base.modelfile.fixture import decode_vectors
from polybake.steps import Pool

PROMPTS = {"query": "query: ", "document": ""}


@pytest.fixture(scope="module")
def baked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("golden")
    source = open_source(write_encoder(folder / "model"))
    steps = [Pool(mode="mean")]
    bake(source, steps, folder / "out.onnx", name="x", prompts=PROMPTS, default_prompt="query")
    return folder / "out.onnx"


def test_makes_ids_and_vectors(baked: Path) -> None:
    """Prompt, tokens and vectors of every text are what the model's parts give."""
    cases = [
        CaseText("default", "?", (), None, ("water",)),
        CaseText("none", "?", (), "document", ("water", "the river")),
    ]
    made = make_fixture(baked, cases)
    assert [case.input_ids for case in made.cases] == [
        ((2, 11, 13, 6, 3),),
        ((2, 6, 3), (2, 5, 7, 3)),
    ]
    assert [case.prompt for case in made.cases] == [None, "document"]
    for case in made.cases:
        rows = [expected_tokens(list(ids)).mean(axis=0) for ids in case.input_ids]
        assert decode_vectors(case.embeddings) == pytest.approx(np.stack(rows), abs=1e-5)
    assert made.fingerprint == read_head(baked).manifest.fingerprint
    assert made.made_by.kind == "reference"
    assert {"onnxruntime", "tokenizers", "numpy"} == made.made_by.packages.keys()


def test_built_in_cases_come_first(baked: Path) -> None:
    """The cases of a file are the built-in ones, those of its prompts, and then the user's own."""
    own = CaseText("mine", "?", (), None, ("x",))
    cases = cases_for(baked, [own])
    assert cases[0].id == "plain"
    assert cases[-1] == own
    assert {case.prompt for case in cases} == {None, "query", "document"}
    embedded = read_head(baked).fixture.cases
    assert [case.id for case in embedded] == [case.id for case in cases[:-1]]
