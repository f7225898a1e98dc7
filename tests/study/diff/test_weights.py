"""Weights of two graphs, tensor by tensor."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import onnx
import pytest

from polybake.baking.graph.weights import stored_weights
from polybake.study.diff.weights import WeightChange, compare_weights

ONE = np.array([[3.0, 4.0], [0.0, 0.0]], np.float32)


def compared(
    folder: Path, old: Mapping[str, np.ndarray], new: Mapping[str, np.ndarray]
) -> list[WeightChange]:
    """The differences of two files that hold only weights."""
    for name, weights in (("a", old), ("b", new)):
        tensors = [onnx.numpy_helper.from_array(one, key) for key, one in weights.items()]
        graph = onnx.helper.make_graph([], "g", [], [], tensors)
        (folder / name).write_bytes(onnx.helper.make_model(graph).SerializeToString())
    with stored_weights(folder / "a") as before, stored_weights(folder / "b") as after:
        return list(compare_weights(before, after, [*before], [*after]))


def test_a_changed_weight_has_its_figures(tmp_path: Path) -> None:
    """The figures are the largest absolute difference of an element, and the cosine."""
    other = np.array([[4.0, 3.0], [0.0, 0.0]], np.float32)
    (found,) = compared(tmp_path, {"w": ONE, "x": ONE}, {"w": other, "x": ONE})
    assert (found.name, found.kind, found.largest) == ("w", "changed", 1.0)
    assert found.cosine == pytest.approx(24 / 25)


def test_another_type_is_compared_by_value(tmp_path: Path) -> None:
    """Values that float16 holds exactly are equal, and only stored otherwise."""
    (found,) = compared(tmp_path, {"w": ONE}, {"w": ONE.astype(np.float16)})
    assert (found.kind, found.largest) == ("retyped", 0.0)
    assert found.cosine == pytest.approx(1)
    assert (found.before, found.after) == ("float32 [2, 2]", "float16 [2, 2]")


def test_a_renamed_weight_is_found_by_its_content(tmp_path: Path) -> None:
    """Weights of that shape with other content are gone or new."""
    found = compared(
        tmp_path, {"w": ONE, "x": ONE + 1, "y": ONE}, {"v": ONE + 2, "u": ONE, "y": ONE}
    )
    assert [(one.name, one.kind, one.now) for one in found] == [
        ("w", "renamed", "u"),
        ("x", "gone", None),
        ("v", "new", None),
    ]


def test_equal_bytes_of_another_type_are_no_rename(tmp_path: Path) -> None:
    """Zeros have the same bytes in every type."""
    zeros = np.zeros(9, np.float32)
    found = compared(tmp_path, {"w": zeros}, {"v": zeros.view(np.int32)})
    assert [one.kind for one in found] == ["gone", "new"]


@pytest.mark.parametrize("precision", ["int8", "int4"])
def test_rounded_weights_belong_to_what_they_were(precision: str, tmp_path: Path) -> None:
    """``precision = "int8"`` puts its own name in front; integers have no figures."""
    now = f"{precision}.w"
    found = compared(tmp_path, {"w": ONE}, {now: ONE.astype(np.int8), f"{now}.scale": ONE[0]})
    assert [(one.name, one.kind, one.now, one.largest) for one in found] == [
        ("w", "retyped", now, None),
        (f"{now}.scale", "new", None, None),
    ]


def test_another_shape_and_zeros_have_no_cosine(tmp_path: Path) -> None:
    """A weight of another shape has no difference either."""
    old = {"w": ONE, "z": np.zeros(9, np.float32)}
    shape, zeros = compared(tmp_path, old, {"w": ONE[0], "z": np.ones(9, np.float32)})
    assert (shape.kind, shape.largest, shape.after) == ("reshaped", None, "float32 [2]")
    assert (zeros.kind, zeros.largest, zeros.cosine) == ("changed", 1.0, None)


def test_the_same_numbers_in_another_field_are_the_same(tmp_path: Path) -> None:
    """ONNX has two places for them, and other bytes."""
    tensor = onnx.helper.make_tensor("w", onnx.TensorProto.FLOAT, ONE.shape, ONE.ravel().tolist())
    assert not tensor.raw_data
    assert compared(tmp_path, {"w": ONE}, {"w": ONE}) == []
    graph = onnx.helper.make_graph([], "g", [], [], [tensor])
    (tmp_path / "b").write_bytes(onnx.helper.make_model(graph).SerializeToString())
    with stored_weights(tmp_path / "a") as before, stored_weights(tmp_path / "b") as after:
        assert before.message("w") != after.message("w")
        assert list(compare_weights(before, after, ["w"], ["w"])) == []
