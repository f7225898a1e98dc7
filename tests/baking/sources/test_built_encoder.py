"""What every encoder that is built here has in common."""

from pathlib import Path

import numpy as np

from models.folders.drawn import write_drawn
from models.folders.tiny_folders import change_json
from polybake.baking.bake import bake
from polybake.baking.recipe.resolve import resolve
from polybake.baking.sources import open_source
from polybake.runtime.embedder import Embedder

STEPS = [{"step": "pool", "mode": "lasttoken"}, {"step": "normalize"}]


def test_padding_stands_behind_the_text(tmp_path: Path) -> None:
    """On the left it would move the positions, whose rotations are rounded otherwise."""
    folder = write_drawn(tmp_path / "model", "qwen3")
    change_json(folder / "tokenizer_config.json", padding_side="left")
    source = open_source(folder)
    assert source.tokenizer.pad_side == "left"
    report = bake(
        source,
        resolve(STEPS, base=tmp_path, source=source),
        tmp_path / "baked.onnx",
        name="tiny",
    )
    assert report.manifest.contract.pad_side == "right"
    embedder = Embedder(report.path)
    rows = [[5, 6, 7], [8, 9, 10, 11, 12, 13, 14]]
    alone = np.concatenate([embedder.embed_ids([row]) for row in rows])
    np.testing.assert_allclose(embedder.embed_ids(rows), alone, atol=2e-7)
