"""Weights in a file beside their graph."""

from __future__ import annotations

import hashlib
from pathlib import Path

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnxscript import ir

from models.onnx.tiny_onnx import encoder
from polybake.baking.graph.open_written import open_written
from polybake.baking.graph.write import serialize, write_to_run
from polybake.errors import InputError

RANDOM = np.random.default_rng(1)
ARRAYS = {
    "wide": RANDOM.normal(size=(40, 64)).astype(np.float32),
    "small": np.arange(1023, dtype=np.float32),
    "narrow": RANDOM.normal(size=(3, 1000)).astype(ml_dtypes.bfloat16),
    "least": np.arange(1024, dtype=np.float32),
    "transposed": RANDOM.integers(-9, 9, size=(60, 90)).astype(np.int8).T,
}


def model() -> ir.Model:
    """A graph with small and large weights of several types, and one of packed numbers."""
    proto = encoder()
    packed = onnx.helper.make_tensor("packed", onnx.TensorProto.INT4, [8193], [1, -2, 3] * 2731)
    proto.graph.initializer.append(packed)
    found = ir.from_proto(proto)
    for name, array in ARRAYS.items():
        tensor = ir.tensor(array, name=name)
        shape, kind = ir.Shape(array.shape), ir.TensorType(tensor.dtype)
        found.graph.initializers.add(
            ir.Value(name=name, shape=shape, type=kind, const_value=tensor)
        )
    return found


def test_large_weights_lie_page_by_page_in_the_order_of_the_graph(tmp_path: Path) -> None:
    weights = serialize(model(), "m.weights").write(tmp_path / "m.onnx")
    graph = onnx.load(tmp_path / "m.onnx", load_external_data=False).graph
    outside = {
        one.name: {entry.key: entry.value for entry in one.external_data}
        for one in graph.initializer
        if one.data_location == onnx.TensorProto.EXTERNAL
    }
    assert list(outside) == ["packed", "wide", "narrow", "least", "transposed"]
    assert {place["location"] for place in outside.values()} == {"m.weights"}
    offsets = [int(place["offset"]) for place in outside.values()]
    assert offsets == [4096, 12288, 24576, 32768, 36864]
    data = (tmp_path / "m.weights").read_bytes()
    digest = hashlib.sha256(data[4096:]).hexdigest()
    assert data[:4096] == f"polybake weights 1\n{digest}\n".encode().ljust(4096, b"\0")
    assert weights is not None
    assert weights.model_dump() == {"file": "m.weights", "length": len(data), "sha256": digest}


def test_every_number_is_itself(tmp_path: Path) -> None:
    serialize(model(), "m.weights").write(tmp_path / "m.onnx")
    found = {one.name: one for one in onnx.load(tmp_path / "m.onnx").graph.initializer}
    for name, array in ARRAYS.items():
        kept = onnx.numpy_helper.to_array(found[name])
        assert kept.shape == array.shape
        assert kept.tobytes() == array.tobytes()
    packed = onnx.numpy_helper.to_array(found["packed"]).astype(int)
    assert packed.tolist() == [1, -2, 3] * 2731
    onnx.checker.check_model(str(tmp_path / "m.onnx"))


def test_a_graph_to_run_is_divided_where_one_file_cannot_hold_it(tmp_path: Path) -> None:
    """What is computed is the same, from weights that stay in their file."""
    graph = onnx.parser.parse_graph("g (int64[n] ids) => (float[n, 64] rows) {}")
    graph.node.append(onnx.helper.make_node("Gather", ["wide", "ids"], ["rows"]))
    graph.initializer.append(onnx.numpy_helper.from_array(ARRAYS["wide"], "wide"))
    opset = onnx.helper.make_opsetid("", 18)
    looked_up = ir.from_proto(onnx.helper.make_model(graph, ir_version=8, opset_imports=[opset]))
    for name, largest in (("whole", 20_000), ("divided", 10_000)):
        path = tmp_path / f"{name}.onnx"
        write_to_run(looked_up, path, largest)
        found = open_written(path, threads=1).run(None, {"ids": np.array([3, 1])})[0]
        np.testing.assert_array_equal(found, ARRAYS["wide"][[3, 1]])
    assert not (tmp_path / "whole.onnx.weights").exists()
    (tmp_path / "divided.onnx.weights").unlink()
    with pytest.raises(InputError, match="does not load it"):
        open_written(path, threads=1)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a file that is always full")
def test_names_the_room_that_all_weights_take(tmp_path: Path) -> None:
    (tmp_path / "m.weights").symlink_to("/dev/full")
    with pytest.raises(InputError, match=r"m\.onnx: cannot be written .* make room for 5\d{4} byt"):
        serialize(model(), "m.weights").write(tmp_path / "m.onnx")
