"""Any ONNX file read for looking at."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnx.helper
import onnx.parser
import pytest

from polybake.errors import InputError
from polybake.study.inspect.graph import dtype_text, read_graph, shape_sizes

TEXT = """
<ir_version: 8, opset_import: ["" : 18]>
tiny (float[N, 7] x) => (y) { h = MatMul (x, w)  y = Cast <to = 10> (h) }
"""


def write(path: Path, model: onnx.ModelProto) -> Path:
    path.write_bytes(model.SerializeToString())
    return path


def parsed(text: str) -> bytes:
    return onnx.parser.parse_model(text).SerializeToString()


def tiny() -> onnx.ModelProto:
    model = onnx.parser.parse_model(TEXT)
    weight = onnx.numpy_helper.from_array(np.ones((7, 300), np.float32), "w")
    model.graph.initializer.append(weight)
    return model


def test_infers_what_is_not_stated(tmp_path: Path) -> None:
    """Values between input and output, and the output, have dtype and shape."""
    graph = read_graph(write(tmp_path / "m.onnx", tiny())).graph
    (y,) = graph.outputs
    h = graph[0].outputs[0]
    assert (dtype_text(h), shape_sizes(h)) == ("float32", ["N", 300])
    assert (dtype_text(y), shape_sizes(y)) == ("float16", ["N", 300])


def test_needs_no_weights(tmp_path: Path) -> None:
    """A file whose weights lie beside it is read without them, wherever they are said to be."""
    model = tiny()
    (weight,) = model.graph.initializer
    weight.ClearField("raw_data")
    weight.data_location = onnx.TensorProto.EXTERNAL
    weight.external_data.add(key="location", value="/nowhere/at/all")
    graph = read_graph(write(tmp_path / "m.onnx", model)).graph
    assert shape_sizes(graph.outputs[0]) == ["N", 300]


def test_a_small_weight_still_decides_a_shape(tmp_path: Path) -> None:
    """The target of a Reshape is read; a size that stays unknown is a question mark."""
    text = """
        <ir_version: 8, opset_import: ["" : 18]>
        tiny (float[N, 6] x) => (y, z) { y = Reshape (x, to)  z = NonZero (x) }
    """
    model = onnx.parser.parse_model(text)
    to = onnx.numpy_helper.from_array(np.array([-1, 2, 3]), "to")
    model.graph.initializer.append(to)
    y, z = read_graph(write(tmp_path / "m.onnx", model)).graph.outputs
    assert shape_sizes(y) == ["?", 2, 3]
    assert shape_sizes(z) == [2, "?"]


def test_a_wrong_graph_is_shown_as_it_stands(tmp_path: Path) -> None:
    """A graph whose shapes contradict each other is read without inferred shapes."""
    model = tiny()
    model.graph.initializer[0].dims[0] = 5
    model.graph.initializer[0].raw_data = np.ones((5, 300), np.float32).tobytes()
    graph = read_graph(write(tmp_path / "m.onnx", model)).graph
    assert [node.op_type for node in graph] == ["MatMul", "Cast"]
    assert shape_sizes(graph[0].outputs[0]) is None


#: Inference of a function that calls itself would never end.
ENDLESS = """
<ir_version: 8, opset_import: ["" : 18, "own" : 1]>
tiny (float[N, 3] x) => (y) { y = own.again (x) }
<domain: "own", opset_import: ["" : 18, "own" : 1]>
again (v) => (r) { r = own.again (v) }
"""
MISSING = TEXT.replace("MatMul (x, w)", "Cast <to = 10> (missing)")


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        (b"", "m.onnx: has no graph"),
        (b"not a model at all", "m.onnx: is not a valid ONNX file"),
        (b"\x3a\x7fgraph", "m.onnx: is not a valid ONNX file"),
        (parsed(MISSING), r"is not a valid ONNX graph .*'missing'"),
        (parsed(ENDLESS), r"is not a valid ONNX graph .*own::again.*; down"),
        (None, r"cannot be read \(No such file or directory\)"),
    ],
    ids=["empty", "text", "cut", "missing value", "endless", "no file"],
)
def test_refuses_what_is_no_model(content: bytes | None, shown: str, tmp_path: Path) -> None:
    """One line says why; there is no traceback."""
    path = tmp_path / "m.onnx"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError, match=shown) as raised:
        read_graph(path)
    assert "\n" not in str(raised.value)
    with pytest.raises(InputError, match=r"cannot be read \(Is a directory\)"):
        read_graph(tmp_path)
