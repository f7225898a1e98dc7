"""Graphs written one weight at a time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnxscript import GraphBuilder, ir

from models.onnx.tiny_onnx import TABLE, encoder
from polybake.baking.graph.write import serialize
from polybake.errors import InputError


def traced() -> ir.Model:
    """A graph from the builder, which leaves its traces in each node."""
    graph = ir.Graph([], [], nodes=[], opset_imports={"": 18}, name="traced")
    builder = GraphBuilder(graph)
    x = builder.input("x", ir.DataType.FLOAT, ["batch", 3])
    builder.push_module("part", "Part")
    y = builder.op.Add(builder.op.Mul(x, 2.0), builder.op.initializer(WEIGHT, "weight"))
    builder.pop_module()
    builder.add_output(y, "y")
    return ir.Model(graph, ir_version=8)


WEIGHT = ir.tensor(np.arange(3, dtype=np.float32), name="weight")


def test_same_model_as_onnx_writes(tmp_path: Path) -> None:
    """The file holds what onnx would have written, weights included."""
    proto = encoder()
    serialize(ir.from_proto(proto)).write(tmp_path / "m.onnx")
    found = onnx.load(tmp_path / "m.onnx")
    table = onnx.numpy_helper.to_array(found.graph.initializer[0])
    assert (table == TABLE).all()
    assert [node.op_type for node in found.graph.node] == [n.op_type for n in proto.graph.node]
    assert found.opset_import == proto.opset_import
    assert [one.name for one in found.graph.output] == ["last_hidden_state"]
    onnx.checker.check_model(tmp_path / "m.onnx", full_check=True)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a file that is always full")
def test_names_a_full_disk() -> None:
    """The system names no file when a write fails; the error does, with the room it takes."""
    shown = r"/dev/full: cannot be written \(No space .*\); make room for \d+ bytes, or name"
    with pytest.raises(InputError, match=shown):
        serialize(ir.from_proto(encoder())).write(Path("/dev/full"))


def test_every_type_of_weight(tmp_path: Path) -> None:
    """Text, half precision and packed 4-bit weights survive, like empty and scalar ones."""
    arrays = {
        "text": np.array(["a", "\u00fc"], dtype=object),
        "half": np.array([[1.5]], np.float16),
        "scalar": np.array(3, np.int64),
        "empty": np.zeros((0, 2), np.float32),
    }
    tensors = [onnx.numpy_helper.from_array(array, name) for name, array in arrays.items()]
    tensors.append(onnx.helper.make_tensor("packed", onnx.TensorProto.INT4, [3], [1, -2, 3]))
    proto = encoder()
    proto.graph.initializer.extend(tensors)
    serialize(ir.from_proto(proto)).write(tmp_path / "m.onnx")
    found = {one.name: one for one in onnx.load(tmp_path / "m.onnx").graph.initializer}
    for name, array in arrays.items():
        kept = onnx.numpy_helper.to_array(found[name])
        assert kept.shape == array.shape
        assert kept.tolist() in (array.tolist(), [b"a", "\u00fc".encode()])
    assert onnx.numpy_helper.to_array(found["packed"]).astype(int).tolist() == [1, -2, 3]


def test_keeps_namespaces_and_drops_traces(tmp_path: Path) -> None:
    """Nodes keep the namespace that viewers fold by, and nothing else of the tracer."""
    serialize(traced()).write(tmp_path / "m.onnx")
    nodes = onnx.load(tmp_path / "m.onnx").graph.node
    assert [[(one.key, one.value) for one in node.metadata_props] for node in nodes] == [
        [("namespace", "part: Part")]
    ] * 2


def test_leaves_the_model_as_it_was(tmp_path: Path) -> None:
    """A model can be written twice, to the same bytes."""
    model = traced()
    for name in ("a", "b"):
        serialize(model).write(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_knows_its_size(tmp_path: Path) -> None:
    """The size is known exactly, without reading a weight."""
    model = traced()
    file = serialize(model)
    file.write(tmp_path / "m.onnx")
    assert file.size == (tmp_path / "m.onnx").stat().st_size
    GraphBuilder(model.graph).initializer(HUGE)
    assert serialize(model).size > 4 * 2**40


HUGE = ir.LazyTensor(
    lambda: pytest.fail("was read"), ir.DataType.FLOAT, ir.Shape([2**40]), name="huge"
)
