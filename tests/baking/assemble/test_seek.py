"""The types of tokens say where answers are sought, and reach the encoder without that."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnxruntime as ort
import pytest

from models.files.task_models import write_spans
from models.folders.tiny_folders import CONFIG
from polybake.baking.assemble.seek import seek
from polybake.baking.graph.write import write_to_run
from polybake.baking.sources import open_source
from polybake.baking.sources.source import EncoderGraph

FED = {
    "input_ids": np.array([[2, 5, 3, 6, 7, 3]]),
    "attention_mask": np.ones((1, 6), np.int64),
}
TYPES = np.array([[0, 0, 0, 1, 1, 1]])
MARKED = np.array([[0, 0, 0, 3, 3, 1]])


def run(graph: EncoderGraph, path: Path, types: np.ndarray | None) -> list[np.ndarray]:
    """The embeddings of an encoder, and the mask of the sought tokens if it has one."""
    state = graph.state
    found = [state.x] if state.sought is None else [state.x, state.sought]
    for number, value in enumerate(found):
        value.name = f"found_{number}"
        graph.model.graph.outputs.append(value)
    write_to_run(graph.model, path)
    fed = FED | ({} if types is None else {"token_type_ids": types})
    session = ort.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    return session.run(None, fed)


@pytest.mark.parametrize("typed", [True, False])
def test_the_encoder_sees_its_own_types(typed: bool, tmp_path: Path) -> None:
    """An encoder with types gets its own, without the mark; one without types gets none."""
    folder = write_spans(tmp_path / "model")
    encoder = open_source(folder).encoder.for_pairs(lambda: typed)
    plain = run(encoder.place(), tmp_path / "plain.onnx", TYPES if typed else None)
    graph = seek(encoder.place())
    assert [one.feed for one in graph.inputs] == [*FED, "token_type_ids"]
    tokens, sought = run(graph, tmp_path / "seek.onnx", MARKED)
    assert (tokens == plain[0]).all()
    assert sought.tolist() == [[0, 0, 0, 1, 1, 0]]
    assert tokens.shape[-1] == CONFIG["hidden_size"]
