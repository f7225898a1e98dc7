"""Every command takes a model file whose weights lie beside it."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from models.files.weights_beside import move_weights
from polybake.base.modelfile.container import read_head
from support.processes.commandline import polybake

pytestmark = pytest.mark.slow


@pytest.fixture
def beside(every_feed: Path, tmp_path: Path) -> Path:
    return move_weights(every_feed, tmp_path / "m.onnx")


def weights_of(model: Path) -> Path:
    found = read_head(model).weights_path
    assert found is not None
    return found


def test_it_is_looked_at(beside: Path, every_feed: Path, tmp_path: Path) -> None:
    weights = weights_of(beside)
    size = (beside.stat().st_size + weights.stat().st_size) / 1e6
    shown = polybake("inspect", beside, cwd=tmp_path)
    assert f"({size:.1f} MB)" in shown
    assert str(weights) in shown
    polybake("inspect", beside, "--shapes", cwd=tmp_path)
    assert "reproduced: every golden case" in polybake("check", beside, cwd=tmp_path)
    shown = polybake("diff", every_feed, beside, cwd=tmp_path)
    assert "modules    equal operators and weights, joined otherwise" in shown
    assert "Re-index: no." in shown


def test_its_cards_name_both_files(beside: Path, tmp_path: Path) -> None:
    polybake("card", beside, "-o", "card", cwd=tmp_path)
    name = read_head(beside).manifest.name
    digest = hashlib.sha256(weights_of(beside).read_bytes()).hexdigest()
    card = (tmp_path / "card" / f"{name}.md").read_text()
    weights = weights_of(beside).name
    assert f"- SHA-256 of its weights, `{weights}`: `{digest}`\n" in card
    bill = json.loads((tmp_path / "card" / f"{name}.cdx.json").read_text())
    (part,) = (one for one in bill["components"] if one["name"] == weights)
    assert part["hashes"] == [{"alg": "SHA-256", "content": digest}]
    assert part["bom-ref"] in bill["dependencies"][0]["dependsOn"]


def test_its_vectors_are_written_and_explained(beside: Path, tmp_path: Path) -> None:
    """Triton gets both files; other verbs take them as one."""
    polybake("export", "triton", beside, "-o", "triton", cwd=tmp_path)
    (graph,) = (tmp_path / "triton").glob("*/1/model.onnx")
    weights = weights_of(beside)
    assert graph.with_name(weights.name).read_bytes() == weights.read_bytes()
    (tmp_path / "t.txt").write_text("".join(f"river {number} boat\n" for number in range(20)))
    polybake("embed", beside, "t.txt", "-o", "v.npy", cwd=tmp_path)
    shown = polybake("diagnose", beside, "--vectors", "v.npy", "--texts", "t.txt", cwd=tmp_path)
    assert "the same" in shown
    polybake("fit", beside, "t.txt", "--output", "fitted", cwd=tmp_path)
    polybake("fixtures", beside, "--output", "golden", cwd=tmp_path)
