"""The JSON Schema of polybake.toml says what the program itself says."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from polybake.baking.recipe.json_schema import settings_schema
from polybake.steps import STEPS

SETTINGS = Path(__file__).resolve().parents[3] / "docs/settings.md"
MODEL = '[model]\nname = "m"\nsource = "m"\noutput = "m.onnx"\n'


@pytest.fixture(scope="module")
def schema() -> Draft202012Validator:
    """The schema of polybake.toml, which is itself a valid JSON Schema."""
    Draft202012Validator.check_schema(settings_schema())
    return Draft202012Validator(settings_schema())


def table(step: str) -> str:
    """A file of one step."""
    return f"{MODEL}[[steps]]\nstep = {step}\n"


def test_it_takes_what_the_documentation_shows(schema: Draft202012Validator) -> None:
    """A whole file and a table of routes from the documentation are valid."""
    blocks = re.findall(r"^```toml\n(.*?)^```", SETTINGS.read_text("utf-8"), re.DOTALL | re.M)
    assert len(blocks) > 1
    for block in blocks:
        found = tomllib.loads(block)
        schema.validate({**tomllib.loads(MODEL), **found})


@pytest.mark.parametrize(
    "step",
    [
        '"pool"\nmode = ["mean", "max"]',
        '"dense"\nsource = "2_Dense"',
        '"dense"\nweight = "w.npy"\nactivation = "identity"',
        '"weighted_layer_pooling"\nweights = "w.npy"',
        '"onnx"\nfile = "tail.onnx"',
        '"python"\nfile = "own.py"\nparameters = { a = 1 }',
        '"head"',
        '"route"\ndefault = "a"\nroutes = { a = [{ step = "normalize" }], b = [] }',
    ],
)
def test_it_takes_steps(schema: Draft202012Validator, step: str) -> None:
    """Steps with numbers, with file names and with a saved module's folder are valid."""
    schema.validate(tomllib.loads(table(step)))


@pytest.mark.parametrize(
    "step",
    [
        '"normalise"',
        '"normalize"\neps = 1',
        '"pool"\nmode = "median"',
        '"scale"',
        '"scale"\nfactor = "two"',
        '"weighted_layer_pooling"\nlayer_start = 8',
        '"dense"\nsource = "2_Dense"\nactivation = "identity"',
        '"route"\ndefault = "a"\nroutes = { a = [{ step = "no" }], b = [] }',
    ],
)
def test_it_refuses_what_a_bake_refuses(schema: Draft202012Validator, step: str) -> None:
    """Unknown steps, keys and modes, missing keys, and keys beside a source are refused."""
    assert not schema.is_valid(tomllib.loads(table(step)))


def test_every_step_says_what_it_does() -> None:
    """An editor shows it where the step's name is completed."""
    tables = settings_schema()["$defs"]["Step"]["oneOf"]
    assert {one["properties"]["step"]["const"] for one in tables} == {"head", *STEPS}
    assert all(len(one["description"]) > 20 for one in tables)
