"""What runtimes and tools find in the graph of an encoder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import onnx
import pytest
from onnxruntime.transformers import optimizer

from models.folders.drawn import DRAWN, drawn_weights
from models.folders.tiny_folders import write_bert
from polybake.baking.sources import open_source


def written(folder: Path, kind: str, **changes: Any) -> Path:
    config = DRAWN[kind] | {"model_type": kind} | changes
    source = open_source(write_bert(folder / "model", config, drawn_weights(kind, config)))
    return source.encoder.reference(folder).path


@pytest.mark.parametrize(("kind", "changes"), [("bert", {}), ("albert", {"num_hidden_layers": 12})])
def test_each_weight_is_stored_once(kind: str, changes: dict[str, Any], tmp_path: Path) -> None:
    """Under its own name, also where twelve layers share it."""
    graph = onnx.load(written(tmp_path, kind, **changes)).graph
    names = [one.name for one in graph.initializer]
    found = [name for name in names if "." in name and not name.startswith("const_")]
    assert sorted(found) == sorted(drawn_weights(kind))


def test_normalisation_is_always_given_a_shift(tmp_path: Path) -> None:
    """ONNX Runtime crashes on a LayerNormalization with two inputs before an addition."""
    graph = onnx.load(written(tmp_path, "modernbert")).graph
    norms = [node for node in graph.node if node.op_type == "LayerNormalization"]
    assert [len(node.input) for node in norms] == [3] * 5


def test_every_size_of_the_graph_has_a_name(tmp_path: Path) -> None:
    """Tools that plan memory or optimize offline need batch and sequence to the last value."""
    graph = onnx.load(written(tmp_path, "bert")).graph
    stated = {value.name: value.type.tensor_type.shape.dim for value in graph.value_info}
    inner = {name for node in graph.node for name in node.output}
    inner -= {value.name for value in graph.output}
    assert inner <= stated.keys()
    names = {size.dim_param for sizes in stated.values() for size in sizes if not size.dim_value}
    assert names == {"batch", "sequence"}


def test_the_offline_optimizer_finds_every_attention(tmp_path: Path) -> None:
    """Users of GPUs run it; it knows one order of the mask's operators."""
    path = written(tmp_path, "bert", num_hidden_layers=3)
    found = optimizer.optimize_model(str(path), "bert", 4, 128, opt_level=0)
    assert found.get_fused_operator_statistics()["Attention"] == 3
