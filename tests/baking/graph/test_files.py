"""Graphs written one weight at a time, with weights beside them, and what is read of files."""

import hashlib
from pathlib import Path

import ml_dtypes
import numpy as np
import onnx
import pytest
from google.protobuf.message import DecodeError
from onnxscript import GraphBuilder, ir

from models.files.weights_beside import move_weights
from models.onnx.tiny_onnx import encoder
from polybake.baking.graph.session import open_written
from polybake.baking.graph.skeleton import read_skeleton
from polybake.baking.graph.weights import stored_weights
from polybake.baking.graph.write import serialize, write_to_run
from polybake.errors import InputError

RANDOM = np.random.default_rng(1)
ARRAYS = {
    "wide": RANDOM.normal(size=(40, 64)).astype(np.float32),
    "small": np.arange(1023, dtype=np.float32),
    "narrow": RANDOM.normal(size=(3, 1000)).astype(ml_dtypes.bfloat16),
    "least": np.arange(1024, dtype=np.float32),
    "transposed": RANDOM.integers(-9, 9, size=(60, 90)).astype(np.int8).T,
    "half": np.array([[1.5]], np.float16),
    "scalar": np.array(3, np.int64),
    "empty": np.zeros((0, 2), np.float32),
}
HUGE = ir.LazyTensor(
    lambda: pytest.fail("was read"), ir.DataType.FLOAT, ir.Shape([2**40]), name="huge"
)
FULL = pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a file that is always full")


def model() -> ir.Model:
    """A graph with weights of every kind: small, large, of text and of packed numbers."""
    proto = encoder()
    text = np.array(["a", "\u00fc"], dtype=object)
    packed = onnx.helper.make_tensor("packed", onnx.TensorProto.INT4, [8193], [1, -2, 3] * 2731)
    proto.graph.initializer.extend([onnx.numpy_helper.from_array(text, "text"), packed])
    found = ir.from_proto(proto)
    for name, array in ARRAYS.items():
        tensor = ir.tensor(array, name=name)
        shape, kind = ir.Shape(array.shape), ir.TensorType(tensor.dtype)
        found.graph.initializers.add(
            ir.Value(name=name, shape=shape, type=kind, const_value=tensor)
        )
    return found


@pytest.mark.parametrize("beside", [None, "m.weights"])
def test_every_number_is_itself(tmp_path: Path, beside: str | None) -> None:
    """In one file or two, and the nodes stay; the size is known before."""
    file = serialize(model(), beside)
    digest = file.write(tmp_path / "m.onnx")
    assert file.size == (tmp_path / "m.onnx").stat().st_size
    whole = onnx.load(tmp_path / "m.onnx")
    onnx.checker.check_model(tmp_path / "m.onnx", full_check=True)
    assert whole.graph.node == ir.to_proto(model()).graph.node
    assert whole.opset_import == encoder().opset_import
    found = {one.name: onnx.numpy_helper.to_array(one) for one in whole.graph.initializer}
    for name, array in ARRAYS.items():
        assert found[name].shape == array.shape
        assert found[name].tobytes() == array.tobytes()
    assert found["packed"].astype(int).tolist() == [1, -2, 3] * 2731
    assert found["text"].tolist() in (["a", "\u00fc"], [b"a", "\u00fc".encode()])
    graph = onnx.load(tmp_path / "m.onnx", load_external_data=False).graph
    places = [
        {entry.key: entry.value for entry in one.external_data}
        for one in graph.initializer
        if one.data_location == onnx.TensorProto.EXTERNAL
    ]
    assert len(places) == (5 if beside else 0)
    assert all(place["location"] == beside for place in places)
    assert all(int(place["offset"]) % 4096 == 0 for place in places)
    if beside:
        assert digest == hashlib.sha256((tmp_path / beside).read_bytes()).hexdigest()


def test_a_model_is_written_twice_to_the_same_bytes(tmp_path: Path) -> None:
    """Nodes keep the namespace that viewers fold by, and nothing else of the tool's traces."""
    builder = GraphBuilder(ir.Graph([], [], nodes=[], opset_imports={"": 18}, name="traced"))
    x = builder.input("x", ir.DataType.FLOAT, ["batch", 3])
    builder.push_module("part", "Part")
    y = builder.op.Add(builder.op.Mul(x, 2.0), [1.0, 2.0, 3.0])
    builder.pop_module()
    builder.add_output(y, "y")
    traced = ir.Model(builder.graph, ir_version=8)
    for name in ("a", "b"):
        serialize(traced).write(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    nodes = onnx.load(tmp_path / "a").graph.node
    assert [[(one.key, one.value) for one in node.metadata_props] for node in nodes] == [
        [("namespace", "part: Part")]
    ] * 2
    builder.initializer(HUGE)
    assert serialize(traced).size > 4 * 2**40


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


@FULL
@pytest.mark.parametrize("beside", [None, "m.weights"])
def test_names_the_room_that_all_weights_take(tmp_path: Path, beside: str | None) -> None:
    """The system names no file when a write fails; the error does."""
    (tmp_path / (beside or "m.onnx")).symlink_to("/dev/full")
    with pytest.raises(InputError, match=r"m\.onnx: cannot be written .* make room for \d{5} byt"):
        serialize(model(), beside).write(tmp_path / "m.onnx")


def test_a_skeleton_is_all_but_large_data(tmp_path: Path, every_feed: Path) -> None:
    """With a limit above every weight, it is the whole model as onnx loads it."""
    path = tmp_path / "m.onnx"
    serialize(model()).write(path)
    whole, found = onnx.load(path), read_skeleton(path, 100)
    assert (found.graph.node, found.opset_import) == (whole.graph.node, whole.opset_import)
    for one, expected in zip(found.graph.initializer, whole.graph.initializer, strict=True):
        if len(expected.raw_data) > 100:
            expected.ClearField("raw_data")
        assert one == expected
    floats = onnx.helper.make_tensor("floats", onnx.TensorProto.FLOAT, [3000], [1.0] * 3000)
    whole.graph.initializer.append(floats)
    onnx.save(whole, path)
    assert not read_skeleton(path, 100).graph.initializer[-1].float_data
    assert read_skeleton(every_feed, 1 << 30) == onnx.load(every_feed)
    path.write_bytes(b"")
    assert read_skeleton(path, 0) == onnx.ModelProto()


TRUNCATED = (b"\x3a\x05abc", b"\x07", b"\x08", b"\x3a\x02\x2a\x7f", b"\x3a\xff\xff")
ENDLESS = [head + b"\xff" * 10_000 for head in (b"\x3a", b"\x08", b"", b"\x3a\x90\x4e\x2a")]


@pytest.mark.parametrize("data", [*TRUNCATED, *ENDLESS])
def test_damage_is_a_decode_error(tmp_path: Path, data: bytes) -> None:
    """Truncated or malformed bytes, wherever they lie; an endless number is refused at once."""
    path = tmp_path / "m.onnx"
    path.write_bytes(data)
    with pytest.raises(DecodeError, match="more than 10 bytes" if data in ENDLESS else None):
        read_skeleton(path, 0)
    if data == TRUNCATED[0]:
        with pytest.raises(DecodeError), stored_weights(path):
            pass


def test_stored_weights_are_those_that_onnx_reads(every_feed: Path, tmp_path: Path) -> None:
    """Of a two-part file with a head before its graph, and of one with weights beside it."""
    whole = {one.name: one for one in onnx.load(every_feed).graph.initializer}
    for path in (every_feed, move_weights(every_feed, tmp_path / "m.onnx")):
        with stored_weights(path) as weights:
            assert [*weights] == [*whole]
            assert "nothing" not in weights
            for name, tensor in whole.items():
                assert weights.message(name) == tensor.SerializeToString()
                assert np.array_equal(weights.array(name), onnx.numpy_helper.to_array(tensor))


@pytest.mark.parametrize("location", ["../other", "/etc/passwd", "missing"])
def test_weights_elsewhere_are_refused(every_feed: Path, tmp_path: Path, location: str) -> None:
    (tmp_path / "other").write_bytes(bytes(10_000))
    model = onnx.load(every_feed)
    tensor = model.graph.initializer[0]
    size = len(tensor.raw_data)
    tensor.ClearField("raw_data")
    tensor.data_location = onnx.TensorProto.EXTERNAL
    for key, value in (("location", location), ("length", str(size))):
        tensor.external_data.add(key=key, value=value)
    path = tmp_path / "folder" / "m.onnx"
    path.parent.mkdir()
    path.write_bytes(model.SerializeToString())
    named = pytest.raises(InputError, match=f"'{location}'.*the (model's folder|file)")
    with stored_weights(path) as weights, named:
        weights.array(tensor.name)
