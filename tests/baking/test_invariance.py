"""Whose fault it is that a vector depends on its batch or on padding."""

from __future__ import annotations

from pathlib import Path

import pytest

from models.tiny_onnx import BODY, POOLED, encoder, write_encoder
from polybake.baking.bake import bake
from polybake.errors import CheckFailed
from polybake.recipe.resolve import resolve
from polybake.sources import open_source

MIXED = "mean = ReduceMean <axes = [0]> (total) pooler_output = Sub (total, mean)"
PADDED = "mean = ReduceMean <axes = [1], keepdims = 0> (rows) pooler_output = Add (total, mean)"


@pytest.mark.parametrize(
    ("change", "shown"),
    [
        (MIXED, r"differs from each text alone, in a batch by .*the encoder alone does, too; exp"),
        (PADDED, "differs from each text alone, .*the encoder alone does, too; export"),
    ],
    ids=["neighbours", "padding"],
)
def test_blames_the_encoder(change: str, shown: str, tmp_path: Path) -> None:
    """An encoder that differs by itself is to be exported again."""
    body = BODY.replace("pooler_output = Div (total, count)", change)
    source = open_source(write_encoder(tmp_path / "model", encoder(body=body, outputs=POOLED)))
    with pytest.raises(CheckFailed, match=shown):
        bake(source, [], tmp_path / "out.onnx", name="tiny")


MEANS = """
def step(op, embedding):
    return op.Sub(embedding, op.ReduceMean(embedding, axes=[0]))
def reference(embedding):
    return embedding - embedding.mean(axis=0)
"""


def test_blames_the_steps(tmp_path: Path) -> None:
    """A step that mixes texts, in both of its forms, is named, and not the encoder."""
    source = open_source(write_encoder(tmp_path / "model"))
    (tmp_path / "own.py").write_text(MEANS, encoding="utf-8")
    specs = [{"step": "pool", "mode": "mean"}, {"step": "python", "file": "own.py"}]
    steps = resolve(specs, base=tmp_path, source=source)
    shown = r"the encoder alone does not, so one of the steps does: .*python\(file=own.py.*itself"
    with pytest.raises(CheckFailed, match=rf"in a batch by .*written; {shown}"):
        bake(source, steps, tmp_path / "out.onnx", name="tiny")
