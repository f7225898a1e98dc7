"""Steps appended to an encoder's graph."""

from __future__ import annotations

from pathlib import Path

import pytest
from onnxscript import ir

from models.folders.tiny_folders import write_bert
from polybake.baking.assemble.fold import fold
from polybake.baking.sources import open_source
from polybake.errors import InputError
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
    """The floats before quantization are a second output, and no step follows it."""
    graph = open_source(write_bert(tmp_path)).encoder.place()
    steps = [Pool(mode="mean"), Truncate(dimension=8), Quantize(precision="ubinary")]
    output = fold(steps, graph, functions=True).output
    assert (output.dtype, output.dimension, output.packed_bits) == ("uint8", 1, True)
    names = [value.name for value in graph.model.graph.outputs]
    assert names == ["sentence_embedding", "unquantized_embedding"]
    again = open_source(tmp_path).encoder.place()
    with pytest.raises(InputError, match=r"steps\[3\]: stands after quantize; move quantize"):
        fold([*steps, Normalize()], again)
