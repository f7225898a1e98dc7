"""A graph read without its large weights."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from google.protobuf.message import DecodeError

from models.folders.tiny_folders import write_bert
from polybake.baking.graph.skeleton import read_skeleton


def model() -> onnx.ModelProto:
    graph = onnx.parser.parse_graph("g (float[2] x) => (float[2] y) { y = Add(x, small) }")
    for name, size in (("small", 2), ("large", 5000)):
        array = np.arange(size, dtype=np.float32)
        graph.initializer.append(onnx.numpy_helper.from_array(array, name))
    floats = onnx.helper.make_tensor("floats", onnx.TensorProto.FLOAT, [3000], [1.0] * 3000)
    graph.initializer.append(floats)
    return onnx.helper.make_model(graph)


def test_all_but_large_data_is_kept(tmp_path: Path) -> None:
    """Names, types and dimensions of large weights stay; small ones are whole."""
    path = tmp_path / "m.onnx"
    whole = model()
    onnx.save(whole, path)
    found = read_skeleton(path, 100)
    assert found.graph.node == whole.graph.node
    assert found.opset_import == whole.opset_import
    small, large, floats = found.graph.initializer
    assert onnx.numpy_helper.to_array(small).tolist() == [0, 1]
    assert (large.name, list(large.dims), large.data_type) == ("large", [5000], 1)
    assert (floats.name, list(floats.dims)) == ("floats", [3000])
    assert not large.raw_data
    assert not floats.float_data
    assert found.ByteSize() < 400


def test_a_whole_file_reads_as_onnx_reads_it(tmp_path: Path, every_feed: Path) -> None:
    """With a limit above every weight, the skeleton is the whole model as onnx loads it."""
    bert = write_bert(tmp_path / "bert")
    assert bert.is_dir()
    assert read_skeleton(every_feed, 1 << 30) == onnx.load(every_feed)


@pytest.mark.parametrize(
    "data", [b"\x07", b"\x3a\x05abc", b"\x08", b"\x3a\x02\x2a\x7f", b"\x3a\xff\xff"]
)
def test_damage_is_a_decode_error(tmp_path: Path, data: bytes) -> None:
    """Truncated or malformed bytes raise a DecodeError, wherever they lie."""
    path = tmp_path / "m.onnx"
    path.write_bytes(data)
    with pytest.raises(DecodeError):
        read_skeleton(path, 0)


@pytest.mark.parametrize("head", [b"\x3a", b"\x08", b"", b"\x3a\x90\x4e\x2a"])
def test_a_number_without_an_end_is_refused_at_once(tmp_path: Path, head: bytes) -> None:
    """An endless varint of a megabyte would otherwise take a minute to add up."""
    path = tmp_path / "m.onnx"
    path.write_bytes(head + b"\xff" * 10_000)
    with pytest.raises(DecodeError, match="a number of more than 10 bytes"):
        read_skeleton(path, 0)


def test_no_bytes_are_an_empty_model(tmp_path: Path) -> None:
    """An empty file is an empty model, as in protobuf."""
    path = tmp_path / "m.onnx"
    path.touch()
    assert read_skeleton(path, 0) == onnx.ModelProto()
