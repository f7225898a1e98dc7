"""The modules in which two graphs differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
import pytest

from models.files.varied import change_weight, write_varied
from models.folders.tiny_folders import bert_weights, write_bert
from polybake.baking.bake import bake
from polybake.baking.sources import open_source
from polybake.steps import Normalize, Pool, Step, Subtract
from polybake.study.diff.graphs import compare_graphs

STEPS = (Pool(mode="mean"), Normalize())


def baked(folder: Path, steps: Sequence[Step] = STEPS) -> Path:
    """A BERT of two layers."""
    source = open_source(write_bert(folder / "model"))
    return bake(source, list(steps), folder / "out.onnx", name="tiny").path


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return baked(tmp_path_factory.mktemp("graphs"))


def test_a_weight_is_found_in_its_layer(bert: Path, tmp_path: Path) -> None:
    """A changed weight is reported in its layer, with its largest change of an element."""
    name = "encoder.layer.1.output.dense.weight"

    def shift(array: np.ndarray) -> np.ndarray:
        array[0, 0] += 0.25
        return array

    (change,) = compare_graphs(
        bert, write_varied(bert, tmp_path / "b.onnx", graph=change_weight(name, shift))
    )
    (weight,) = change.weights
    assert (change.module, weight.name, weight.kind) == ("encoder.layer.1", name, "changed")
    assert change.equal + 1 == sum("encoder.layer.1." in one for one in bert_weights())
    assert weight.largest == pytest.approx(0.25)
    assert not change.nodes_added + change.nodes_removed


def test_a_step_between_moves_no_other_module(bert: Path, tmp_path: Path) -> None:
    """The steps behind it have other numbers, and so have all of the graph's own names."""
    steps = (Pool(mode="mean"), Subtract(vector=np.ones(12, np.float32)), Normalize())
    changes = {one.module: one for one in compare_graphs(bert, baked(tmp_path, steps))}
    assert [*changes] == ["steps.1", "steps.2"]
    assert [(one.name, one.kind) for one in changes["steps.1"].weights] == [
        ("steps.1.vector", "new")
    ]
    assert changes["steps.1"].equal == 0
    assert changes["steps.1"].nodes_added == Counter(["Sub"])
    assert changes["steps.2"].nodes_added == Counter(["ReduceL2", "Max", "Div"])


def test_a_literal_of_the_code_is_part_of_its_operator(bert: Path, tmp_path: Path) -> None:
    """Another epsilon makes another operator, even under the same name."""
    changed = write_varied(
        bert, tmp_path / "b.onnx", graph=change_weight("const_1e-12_f32", lambda one: one * 1000)
    )
    (change,) = compare_graphs(bert, changed)
    assert (change.module, change.nodes_added, change.nodes_removed) == (
        "steps.1",
        Counter(["Max"]),
        Counter(["Max"]),
    )


def test_a_weight_of_another_type_is_compared_by_its_numbers(bert: Path, tmp_path: Path) -> None:
    """Rounding to float16 changes an element by at most half a unit of its 11 bits."""
    name = "embeddings.word_embeddings.weight"
    narrow = change_weight(name, lambda array: array.astype(np.float16))
    (change,) = compare_graphs(bert, write_varied(bert, tmp_path / "b.onnx", graph=narrow))
    (weight,) = change.weights
    assert (change.module, weight.name, weight.kind) == ("embeddings", name, "retyped")
    assert weight.largest is not None
    assert 0 < weight.largest <= 2**-11 * np.abs(bert_weights()[name]).max()


def test_a_node_s_own_name_is_no_module(bert: Path, tmp_path: Path) -> None:
    """A node outside of all modules belongs to the graph itself."""

    def add(model: onnx.ModelProto) -> None:
        node = onnx.helper.make_node("Constant", [], ["unused"], "Constant_9", value_int=1)
        model.graph.node.append(node)

    (change,) = compare_graphs(bert, write_varied(bert, tmp_path / "b.onnx", graph=add))
    assert (change.module, change.nodes_added) == ("", Counter(["Constant"]))


def test_names_of_values_say_nothing(every_feed: Path, tmp_path: Path) -> None:
    """A graph with other names between its operators has no module that differs."""

    def rename(model: onnx.ModelProto) -> None:
        for node in model.graph.node:
            node.input[:] = ["other" if name == "kept" else name for name in node.input]
            node.output[:] = ["other" if name == "kept" else name for name in node.output]

    renamed = write_varied(every_feed, tmp_path / "b.onnx", graph=rename)
    assert compare_graphs(every_feed, renamed) == ()
