"""Steps appended to an encoder's graph."""

from __future__ import annotations

from pathlib import Path

import pytest
from onnxscript import ir

from polybake.errors import InputError
from polybake.fold import finish, fold
from polybake.sources import open_source
from polybake.steps import Dropout, Normalize, Pool
from tiny_models import write_bert


def test_gives_the_result_of_each_step(tmp_path: Path) -> None:
    """Each step continues the one before; one without operators gives what it was given."""
    graph = open_source(write_bert(tmp_path)).encoder.place()
    pooled, kept, normalized = fold([Pool(mode="mean"), Dropout(), Normalize()], graph)
    assert kept is pooled
    assert pooled.shape == normalized.shape == ir.Shape(["batch", 12])
    assert normalized.producer().inputs[0] is pooled


def test_finish_names_the_output(tmp_path: Path) -> None:
    """The last result is the graph's one output, under the contract's name."""
    graph = open_source(write_bert(tmp_path)).encoder.place()
    (pooled,) = fold([Pool(mode="mean")], graph)
    assert finish(pooled, graph) == 12
    assert [value.name for value in graph.model.graph.outputs] == ["sentence_embedding"]


def test_finish_refuses_token_embeddings(tmp_path: Path) -> None:
    """Where nothing pooled there is no embedding of a text."""
    graph = open_source(write_bert(tmp_path)).encoder.place()
    with pytest.raises(InputError, match=r"they end in \[batch,sequence,12\].*add a step that"):
        finish(graph.embeddings, graph)
