"""A graph of one row becomes one of all rows again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
import pytest

from models.folders.drawn import write_drawn
from polybake import bake
from polybake.baking.graph.all_rows import compute_all_rows


@pytest.mark.parametrize("kind", ["bert", "gpt2", "modernbert", "qwen3"])
def test_it_can_be_undone(kind: str, tmp_path: Path) -> None:
    """The graph of all rows gives the same vectors, and its embeddings are of every token."""
    (tmp_path / "model").mkdir()
    steps = [{"step": "pool", "mode": "lasttoken"}]
    bake(write_drawn(tmp_path / "model", kind), tmp_path / "one.onnx", name="my-model", steps=steps)
    model = onnx.load(tmp_path / "one.onnx")
    fed = {
        "input_ids": np.array([[3, 4, 5, 6], [7, 8, 0, 0]]),
        "attention_mask": np.array([[1, 1, 1, 1], [1, 1, 0, 0]]),
    }
    names = {one.name for one in model.graph.input}
    fed = {name: array for name, array in fed.items() if name in names}
    found = []
    for undone in (False, True):
        if undone:
            compute_all_rows(model)
            (choice,) = (one for one in model.graph.node if one.op_type == "GatherND")
            model.graph.output.append(onnx.ValueInfoProto(name=choice.input[0]))
        session = ort.InferenceSession(model.SerializeToString())
        found.append(session.run(None, fed))
    np.testing.assert_allclose(found[0][0], found[1][0], rtol=0, atol=2e-6)
    assert found[1][1].shape[:2] == (2, 4)
