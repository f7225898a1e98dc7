"""What no tool could have written is refused before anything walks the graph."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import onnx
import onnx.parser
import pytest

from polybake.baking.graph.validate import validate
from polybake.errors import InputError

TEXT = """
<ir_version: 8, opset_import: ["" : 18]>
g (bool c, float[N, 2] x) => (y)
<float[2] w = {1.0, 2.0}>
{
    a = Mul (x, w)
    y = If (c) <
        then_branch = t () => (float[N, 2] p) { p = LeakyRelu <alpha = 0.5> (a) },
        else_branch = e () => (float[N, 2] q) { q = Neg (x) }
    >
}
"""


def model() -> onnx.ModelProto:
    return onnx.parser.parse_model(TEXT)


def branch(found: onnx.ModelProto) -> onnx.GraphProto:
    """The first branch of the If."""
    return found.graph.node[1].attribute[0].g


def damaged(found: onnx.ModelProto, old: bytes, new: bytes) -> onnx.ModelProto:
    """The model with other bytes in the place of some."""
    data = found.SerializeToString()
    assert old in data
    return onnx.ModelProto.FromString(data.replace(old, new))


def test_a_whole_model_passes() -> None:
    """A valid model passes with or without its weights, and with or without stated types."""
    found = model()
    validate(found, Path("m.onnx"))
    found.graph.initializer[0].ClearField("float_data")
    found.graph.initializer[0].data_location = onnx.TensorProto.EXTERNAL
    for value in (*found.graph.input, *found.graph.output):
        value.ClearField("type")
    validate(found, Path("m.onnx"))


@pytest.mark.parametrize(
    "change",
    [
        lambda found: found.graph.node.add(op_type="Neg", input=["x"], output=["zzzz"]),
        lambda found: branch(found).node[0].MergeFrom(onnx.NodeProto(name="zzzz")),
        lambda found: found.metadata_props.add(key="zzzz", value="v"),
        lambda found: found.graph.initializer[0].MergeFrom(onnx.TensorProto(doc_string="zzzz")),
    ],
    ids=["output", "name in a branch", "metadata", "description"],
)
def test_a_string_is_utf8(change: Callable[[onnx.ModelProto], object]) -> None:
    """Invalid UTF-8 is refused wherever it stands; the message has the field and the string."""
    found = model()
    change(found)
    found = damaged(found, b"zzzz", b"z\xffzz")
    with pytest.raises(InputError, match=r"m\.onnx: .* \(\w+ 'z\\\\xffzz' is not UTF-8\); down"):
        validate(found, Path("m.onnx"))


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (b"LeakyRelu", b"LeakyRely", "No Op registered for LeakyRely"),
        (b"\x05alpha\x15", b"\x05alphb\x15", "Unrecognized attribute: alphb"),
        (b"\xa0\x01\x01", b"\xa0\x01\x0f", "type"),
        (b"\x0a\x01a", b"\x0a\x01b", "input 'b' of node"),
        (b"\x12\x01a", b"\x12\x01x", "x"),
    ],
)
def test_nodes_are_what_onnx_says(old: bytes, new: bytes, says: str) -> None:
    """Unknown operators, attributes and types are refused, and names that no or two nodes give."""
    with pytest.raises(InputError, match=says) as caught:
        validate(damaged(model(), old, new), Path("m.onnx"))
    assert str(caught.value).isprintable()
