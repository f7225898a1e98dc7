"""A bake's manifest says what it is, and its fingerprint what decides a vector."""

from __future__ import annotations

from pathlib import Path

import pytest

from models.folders.tiny_folders import write_bert
from polybake.baking.bake import bake
from polybake.baking.sources import open_source
from polybake.base.modelfile.manifest import Manifest
from polybake.steps import Normalize, Pool, Quantize, Truncate

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_bert(tmp_path_factory.mktemp("source") / "model")


def test_names_decide_no_vector(folder: Path, tmp_path: Path) -> None:
    """The fingerprint is another where the steps are, and the same where only words are."""

    def baked(*steps: object, **options: object) -> Manifest:
        source = open_source(folder)
        return bake(source, steps, tmp_path / "out.onnx", **options).manifest  # type: ignore[arg-type]

    plain = baked(Pool(mode="mean"), name="one")
    named = baked(Pool(mode="mean"), name="two", description="Another.")
    assert (named.name, named.description) == ("two", "Another.")
    assert named.fingerprint == plain.fingerprint
    assert baked(Pool(mode="mean"), Normalize(), name="one").fingerprint != plain.fingerprint


def test_packed_bits_have_a_distance_of_their_own(folder: Path, tmp_path: Path) -> None:
    """Whatever the source compares by, bits are compared by Hamming's distance."""
    steps = [Pool(mode="mean"), Truncate(dimension=8), Quantize(precision="ubinary")]
    found = bake(open_source(folder), steps, tmp_path / "out.onnx", name="bits").manifest
    assert found.similarity == "hamming"
