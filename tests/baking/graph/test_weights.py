"""Weights read from a file one at a time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from google.protobuf.message import DecodeError

from models.files.weights_beside import move_weights
from polybake.baking.graph.weights import stored_weights
from polybake.errors import InputError


def test_weights_are_those_that_onnx_reads(every_feed: Path) -> None:
    """Weights of a two-part file with a head before its graph are those that onnx loads."""
    whole = {one.name: one for one in onnx.load(every_feed).graph.initializer}
    with stored_weights(every_feed) as weights:
        assert [*weights] == [*whole]
        assert "token_rows" in weights
        assert "nothing" not in weights
        for name, tensor in whole.items():
            assert weights.message(name) == tensor.SerializeToString()
            assert np.array_equal(weights.array(name), onnx.numpy_helper.to_array(tensor))


def test_damage_is_a_decode_error(tmp_path: Path) -> None:
    """A graph that claims to end beyond its file is refused."""
    (tmp_path / "m.onnx").write_bytes(b"\x3a\x05abc")
    with pytest.raises(DecodeError), stored_weights(tmp_path / "m.onnx"):
        pass


def test_weights_beside_a_graph_are_those_within_one(every_feed: Path, tmp_path: Path) -> None:
    beside = move_weights(every_feed, tmp_path / "m.onnx")
    with stored_weights(every_feed) as whole, stored_weights(beside) as weights:
        assert [*weights] == [*whole]
        for name in whole:
            assert weights.message(name) == whole.message(name)
            assert np.array_equal(weights.array(name), whole.array(name))


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
    with (
        stored_weights(path) as weights,
        pytest.raises(InputError, match=f"'{location}'.*the (model's folder|file)"),
    ):
        weights.array(tensor.name)
