"""Weights read from a file one at a time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from google.protobuf.message import DecodeError

from polybake.baking.graph.weights import stored_weights


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
