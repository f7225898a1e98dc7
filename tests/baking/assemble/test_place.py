"""Nothing but an earlier bake is overwritten."""

from __future__ import annotations

from pathlib import Path

import pytest

from models.onnx.tiny_onnx import write_encoder
from polybake.baking.bake import bake
from polybake.baking.sources import open_source
from polybake.base.modelfile.container import read_head
from polybake.errors import InputError
from polybake.steps import Normalize, Pool

pytestmark = pytest.mark.slow

STEPS = [Pool(mode="mean"), Normalize()]


@pytest.mark.parametrize("place", ["model.onnx", "tokenizer.json", "notes.txt", "."])
def test_overwrites_only_an_earlier_bake(place: str, tmp_path: Path) -> None:
    """The source, its tokenizer, any other file and a folder stay as they are."""
    model = write_encoder(tmp_path)
    (tmp_path / "notes.txt").write_text("mine")
    out = tmp_path / place
    before = None if out.is_dir() else out.read_bytes()
    with pytest.raises(InputError, match="is there already, and is no file that polybake wrote"):
        bake(open_source(model), STEPS, out, name="tiny")
    assert out.is_dir() or out.read_bytes() == before
    bake(open_source(model), STEPS, tmp_path / "out.onnx", name="tiny")
    bake(open_source(model), STEPS[:1], tmp_path / "out.onnx", name="tiny")
    assert read_head(tmp_path / "out.onnx").manifest.steps == ("pool(mode=mean)",)
