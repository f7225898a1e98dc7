"""The parts of two model files, and the modules and weights in which their graphs differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import onnx
import pytest
from pydantic import JsonValue

from models.bake import bake
from models.files.varied import change_weight, write_varied
from models.files.weights_beside import move_weights
from models.folders.tiny_folders import bert_weights, write_bert
from polybake.baking.graph.weights import stored_weights
from polybake.baking.sources import open_source
from polybake.base.files.documents import document_changes
from polybake.errors import CheckFailed
from polybake.steps import Normalize, Pool, Step, Subtract
from polybake.study.diff.graphs import compare_graphs
from polybake.study.diff.module_change import ModuleChange, merged
from polybake.study.diff.parts import compare_parts
from polybake.study.diff.weights import WeightChange, compare_weights


def test_a_name_decides_no_vector(every_feed: Path, tmp_path: Path) -> None:
    """A change of the manifest alone is shown, and the files count as the same."""
    renamed = write_varied(every_feed, tmp_path / "b.onnx", name="other", precision="int8")
    parts = compare_parts(every_feed, renamed)
    assert parts.same
    assert [f"{one.place}: {one.change}" for one in parts.changes_of("manifest")] == [
        'manifest.name: "every-feed" -> "other"',
        'manifest.precision: "float32" -> "int8"',
    ]


def test_each_deciding_part_is_seen(every_feed: Path, tmp_path: Path) -> None:
    """Changes of graph, tokenizer and contract are each seen alone."""
    changes = {
        "graph": {"graph": change_weight("type_rows", lambda rows: rows * 2)},
        "tokenizer": {"tokenizer": lambda words: words["normalizer"].update(lowercase=False)},
        "contract": {"contract": lambda terms: terms["prompts"].update(query="Query: ")},
    }
    for part, change in changes.items():
        varied = write_varied(every_feed, tmp_path / f"{part}.onnx", **change)
        parts = compare_parts(every_feed, varied)
        assert [one for one in changes if parts.differs(one)] == [part]
        assert not parts.same
        assert parts.obstacle is None


def test_a_graph_that_was_changed_is_not_compared(every_feed: Path, tmp_path: Path) -> None:
    """A changed graph is refused, as its digest would claim that it is the same."""
    data = bytearray(every_feed.read_bytes())
    data[-1] ^= 1
    (tmp_path / "b.onnx").write_bytes(data)
    with pytest.raises(CheckFailed, match="does not match its digest"):
        compare_parts(every_feed, tmp_path / "b.onnx")


@pytest.mark.parametrize(
    ("other", "shown", "searchable"),
    [
        ("every_feed_int8", "another type (float32, int8)", True),
        ("every_feed_bits", "another dimension (7, 56)", True),
        ("tiny_rerank", "another task (embed, rerank)", False),
        ("tiny_multi_vector", "another task (embed, multi-vector)", False),
    ],
)
def test_what_gives_other_things_cannot_be_compared(
    every_feed: Path, other: str, shown: str, searchable: bool, request: pytest.FixtureRequest
) -> None:
    """Other vectors of the same task can still be searched, each by itself."""
    parts = compare_parts(every_feed, request.getfixturevalue(other))
    assert parts.obstacle == shown
    assert parts.runnable == parts.searchable == searchable


def test_an_index_keeps_vectors_and_no_scores(
    every_feed: Path, tiny_multi_vector: Path, tiny_rerank: Path
) -> None:
    """Models with several vectors a text are indexed, but have no ten neighbours here."""
    found = {
        model: compare_parts(model, model) for model in (every_feed, tiny_multi_vector, tiny_rerank)
    }
    assert [one.indexed for one in found.values()] == [True, True, False]
    assert [one.searchable for one in found.values()] == [True, False, False]


def test_a_prompt_that_is_gone_is_named(every_feed: Path, tmp_path: Path) -> None:
    """A prompt that was removed is named; an added one is not."""
    fewer = write_varied(
        every_feed, tmp_path / "b.onnx", contract=lambda terms: terms["prompts"].pop("query")
    )
    assert compare_parts(every_feed, fewer).prompts_gone == ["query"]
    assert compare_parts(fewer, every_feed).prompts_gone == []


def test_weights_beside_a_graph_are_part_of_it(every_feed: Path, tmp_path: Path) -> None:
    """The graph names the file of its weights, whose name says what they are."""
    varied = write_varied(
        every_feed, tmp_path / "v.onnx", graph=change_weight("token_rows", lambda rows: rows * 2)
    )
    one, other = (
        move_weights(path, tmp_path / name / "m.onnx")
        for name, path in (("one", every_feed), ("other", varied))
        if (tmp_path / name).mkdir() is None
    )
    parts = compare_parts(one, other)
    assert parts.differs("graph")
    assert not parts.same
    assert compare_parts(one, one).same
    (change,) = compare_graphs(one, other)
    assert [weight.name for weight in change.weights] == ["token_rows"]


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


def test_layers_of_one_kind_are_told_together() -> None:
    """The numbers of equal layers are added."""
    a, b, c = (WeightChange(name, "changed") for name in "abc")
    layers = [
        ModuleChange("layer.0", 4, [a], nodes_added=Counter(Add=1)),
        ModuleChange("steps.1", 1, [c]),
        ModuleChange("layer.1", 3, [b], nodes_added=Counter(Add=2)),
    ]
    assert merged(layers) == [
        ModuleChange("layer.0-1", 7, [a, b], nodes_added=Counter(Add=3)),
        layers[1],
    ]


ONE = np.array([[3.0, 4.0], [0.0, 0.0]], np.float32)


def compared_weights(
    folder: Path, old: Mapping[str, np.ndarray], new: Mapping[str, np.ndarray]
) -> list[WeightChange]:
    """The differences of two files that hold only weights."""
    for name, weights in (("a", old), ("b", new)):
        tensors = [onnx.numpy_helper.from_array(one, key) for key, one in weights.items()]
        graph = onnx.helper.make_graph([], "g", [], [], tensors)
        (folder / name).write_bytes(onnx.helper.make_model(graph).SerializeToString())
    with stored_weights(folder / "a") as before, stored_weights(folder / "b") as after:
        return list(compare_weights(before, after, [*before], [*after]))


ZEROS = np.zeros(9, np.float32)


@pytest.mark.parametrize(
    ("old", "new", "shown"),
    [
        ({"w": ONE, "x": ONE}, {"w": ONE[:, ::-1], "x": ONE}, ["changed w None 1.0 0.96"]),
        ({"w": ONE}, {"w": ONE.astype(np.float16)}, ["retyped w None 0.0 1.0"]),
        ({"w": ONE}, {"w": ONE[0]}, ["reshaped w None None None"]),
        ({"w": ZEROS}, {"w": ZEROS + 1}, ["changed w None 1.0 None"]),
        (
            {"w": ONE, "x": ONE + 1, "y": ONE},
            {"v": ONE + 2, "u": ONE, "y": ONE},
            ["renamed w u 0.0 None", "gone x None None None", "new v None None None"],
        ),
        # Zeros have the same bytes in every type.
        (
            {"w": ZEROS},
            {"v": ZEROS.view(np.int32)},
            ["gone w None None None", "new v None None None"],
        ),
        *(
            # A precision puts its own name in front; integers have no figures.
            (
                {"w": ONE},
                {f"{by}.w": ONE.astype(np.int8), f"{by}.w.scale": ONE[0]},
                [f"retyped w {by}.w None None", f"new {by}.w.scale None None None"],
            )
            for by in ("int8", "int4")
        ),
    ],
)
def test_weights_are_told_by_content(
    old: dict[str, np.ndarray], new: dict[str, np.ndarray], shown: list[str], tmp_path: Path
) -> None:
    """Each has its kind, the name that it has now, the largest difference and the cosine."""
    found = compared_weights(tmp_path, old, new)
    assert [
        f"{one.kind} {one.name} {one.now} {one.largest} {one.cosine and round(one.cosine, 6)}"
        for one in found
    ] == shown


def test_the_same_numbers_in_another_field_are_the_same(tmp_path: Path) -> None:
    """ONNX has two places for them, and other bytes."""
    tensor = onnx.helper.make_tensor("w", onnx.TensorProto.FLOAT, ONE.shape, ONE.ravel().tolist())
    assert not tensor.raw_data
    assert compared_weights(tmp_path, {"w": ONE}, {"w": ONE}) == []
    graph = onnx.helper.make_graph([], "g", [], [], [tensor])
    (tmp_path / "b").write_bytes(onnx.helper.make_model(graph).SerializeToString())
    with stored_weights(tmp_path / "a") as before, stored_weights(tmp_path / "b") as after:
        assert before.message("w") != after.message("w")
        assert list(compare_weights(before, after, ["w"], ["w"])) == []


@pytest.mark.parametrize(
    ("before", "after", "shown"),
    [
        ({"a": 1, "b": [{"c": 2}]}, {"a": 1, "b": [{"c": 3}]}, ["x.b[0].c: 2 -> 3"]),
        ({"a": 1, "b": 2}, {"b": 2, "c": None}, ["x.a: removed: 1", "x.c: added: null"]),
        ({"a": 1, "b": [1]}, {"b": [1], "a": 1}, []),
        (1, True, ["x: 1 -> true"]),
        (1, 1.0, ["x: 1 -> 1.0"]),
        ({"a": {}}, {"a": None}, ["x.a: {} -> null"]),
        ([1, 2], [2], ["x: of 2 entries 1 removed (1)"]),
        ([*range(20)], [*range(19, -1, -1)], ["x: of 20 entries the same in another order"]),
        ("a" * 99, "b", [f'x: "{"a" * 58}… -> "b"']),
    ],
)
def test_each_place_is_named(before: JsonValue, after: JsonValue, shown: list[str]) -> None:
    """Every change shows its place, the old value and the new one."""
    found = [f"{one.place}: {one.change}" for one in document_changes(before, after, "x")]
    assert found == shown


def test_a_vocabulary_is_one_place() -> None:
    """Renumbered tokens are counted, each group with its first ones."""
    before: dict[str, JsonValue] = {str(number): number for number in range(20)}
    after: dict[str, JsonValue] = {str(number): number + 1 for number in range(1, 20)}
    (found,) = document_changes({"vocab": before}, {"vocab": after | {"new": 0}}, "model")
    assert found.place == "model.vocab"
    assert found.change == "of 20 entries 1 added (new), 1 removed (0), 19 changed (1, 2, 3, …)"
