"""What an encoder's graph gets: steps, and types that say where answers are sought."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnxruntime as ort
import pytest
from onnxscript import ir

from models.files.task_models import write_spans
from models.folders.tiny_folders import CONFIG, write_bert
from polybake.baking.assemble.fold import fold
from polybake.baking.assemble.seek import seek
from polybake.baking.graph.write import write_to_run
from polybake.baking.sources import open_source
from polybake.baking.sources.source import EncoderGraph
from polybake.steps import Dropout, Normalize, Pool, Quantize, Truncate


def test_gives_the_result_of_each_step(tmp_path: Path) -> None:
    """Each step continues the one before; one without operators gives what it was given."""
    graph = open_source(write_bert(tmp_path)).encoder.place()
    pooled, kept, normalized = fold([Pool(mode="mean"), Dropout(), Normalize()], graph).results
    assert kept is pooled
    assert pooled.shape == normalized.shape == ir.Shape(["batch", 12])
    assert normalized.producer().inputs[0] is pooled


def test_names_the_output(tmp_path: Path) -> None:
    """The last result is the graph's one output, under the contract's name."""
    graph = open_source(write_bert(tmp_path)).encoder.place()
    steps = [Pool(mode="mean")]
    assert fold(steps, graph).output.dimension == 12
    assert [value.name for value in graph.model.graph.outputs] == ["sentence_embedding"]


def test_quantize_stands_last(tmp_path: Path) -> None:
    """The floats before quantization are a second output."""
    graph = open_source(write_bert(tmp_path)).encoder.place()
    steps = [Pool(mode="mean"), Truncate(dimension=8), Quantize(precision="ubinary")]
    output = fold(steps, graph, functions=True).output
    assert (output.dtype, output.dimension, output.packed_bits) == ("uint8", 1, True)
    names = [value.name for value in graph.model.graph.outputs]
    assert names == ["sentence_embedding", "unquantized_embedding"]


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
