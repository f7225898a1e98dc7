"""Files that no tool could have written, and operators that no client has, are refused by name."""

from collections.abc import Callable
from pathlib import Path

import onnx
import onnx.parser
import pytest
from onnxscript import ir

from models.onnx.tiny_onnx import write_encoder
from polybake.baking.graph.check import check_graph
from polybake.baking.graph.operators import check_operators
from polybake.baking.graph.validate import validate
from polybake.baking.sources import open_source
from polybake.errors import CheckFailed, InputError

HEAD = '<ir_version: 8, opset_import: ["" : 18]>'
TEXT = f"""
{HEAD}
g (bool c, float[N, 2] x) => (y)
<float[2] w = {{1.0, 2.0}}>
{{
    a = Mul (x, w)
    y = If (c) <
        then_branch = t () => (float[N, 2] p) {{ p = LeakyRelu <alpha = 0.5> (a) }},
        else_branch = e () => (float[N, 2] q) {{ q = Neg (x) }}
    >
}}
"""


def model() -> onnx.ModelProto:
    return onnx.parser.parse_model(TEXT)


def damaged(found: onnx.ModelProto, old: bytes, new: bytes) -> onnx.ModelProto:
    """The model with other bytes in the place of some."""
    data = found.SerializeToString()
    assert old in data
    return onnx.ModelProto.FromString(data.replace(old, new))


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        (b"", "is empty; download or export it again"),
        (onnx.ModelProto(ir_version=8).SerializeToString(), "its 2 bytes hold no ONNX graph; exp"),
        (b"\xff" * 40, "is not a whole ONNX file"),
        (b"<html>not found</html>", "is not a whole ONNX file"),
    ],
)
def test_refuses_what_is_no_onnx_file(content: bytes, shown: str, tmp_path: Path) -> None:
    path = write_encoder(tmp_path / "m")
    path.write_bytes(content)
    with pytest.raises(InputError, match=rf"model\.onnx: {shown}"):
        open_source(path)


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
        lambda graph: graph.node.add(op_type="Neg", input=["x"], output=["zzzz"]),
        lambda graph: setattr(graph.node[1].attribute[0].g.node[0], "name", "zzzz"),
        lambda graph: graph.metadata_props.add(key="zzzz", value="v"),
        lambda graph: setattr(graph.initializer[0], "doc_string", "zzzz"),
    ],
    ids=["output", "name in a branch", "metadata", "description"],
)
def test_a_string_is_utf8(change: Callable[[onnx.GraphProto], object]) -> None:
    """Invalid UTF-8 is refused wherever it stands; the message has the field and the string."""
    found = model()
    change(found.graph)
    found = damaged(found, b"zzzz", b"z\xffzz")
    with pytest.raises(InputError, match=r"m\.onnx: .* \(\w+ 'z\\\\xffzz' is not UTF-8\)"):
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


def scaled(operator: str, opset: int) -> ir.Model:
    text = f'<ir_version: 8, opset_import: ["" : {opset}]> g (float[N, 3] x) => (float[N, 3] y)'
    scale = "<float[3] scale = {1.0, 2.0, 3.0}>"
    return ir.from_proto(onnx.parser.parse_model(f"{text} {scale} {{ y = {operator} (x, scale) }}"))


@pytest.mark.parametrize(
    ("operator", "opset", "valid"),
    [
        ("Add", 11, True),
        ("LayerNormalization", 17, True),
        ("LayerNormalization", 11, False),
        ("NoSuchOperator", 18, False),
        ("Gemm", 18, False),
    ],
)
def test_the_opset_has_each_operator_as_it_is_used(operator: str, opset: int, valid: bool) -> None:
    """A graph is checked before it is written."""
    if valid:
        check_graph(scaled(operator, opset), "own")
    else:
        with pytest.raises(CheckFailed, match=f"^own: .*not valid ONNX: .*{operator}"):
            check_graph(scaled(operator, opset), "own")


def test_a_weight_that_cannot_be_read_says_so_itself() -> None:
    """What reading a weight raises is not hidden behind the check's own error."""

    def read() -> ir.TensorProtocol:
        raise InputError("the weight is damaged")

    model = scaled("Add", 18)
    scale = model.graph.initializers["scale"]
    scale.const_value = ir.LazyTensor(read, ir.DataType.FLOAT, ir.Shape([3]))
    with pytest.raises(InputError, match="the weight is damaged"):
        check_graph(model)


def with_operators(body: str, opsets: str, functions: str = "") -> onnx.ModelProto:
    text = (
        f"<ir_version: 8, opset_import: [{opsets}]> g (bool c, float x) => (float y) {{ {body} }}"
    )
    return onnx.parser.parse_model(text + functions)


@pytest.mark.parametrize("opset", [11, 18, 26])
@pytest.mark.parametrize("names", [[""], ["ai.onnx"], ["", "ai.onnx"]])
def test_gives_the_opset(opset: int, names: list[str]) -> None:
    """ONNX's domain has two names, which count as one."""
    opsets = ", ".join(f'"{name}" : {opset}' for name in names)
    assert check_operators(with_operators("y = Neg (x)", opsets), range(11, 27)) == opset


BRANCHES = (
    "then_branch = t () => (float r) { r = Neg (x) }, "
    "else_branch = e () => (float r) { r = evil.Run (x) }"
)
FUNCTION = '<domain: "own", opset_import: ["" : 18, "evil" : 1]> f (x) => (y) { y = evil.Run (x) }'
EVIL = r"custom operator evil\.Run, which no client has"
DOMAINS = '"" : 18, "evil" : 1, "own" : 1'


@pytest.mark.parametrize(
    ("body", "opsets", "functions", "shown"),
    [
        ("y = Neg (x)", '"" : 10', "", "has opset 10, expected 11 to 26"),
        ("y = Neg (x)", '"" : 27', "", "has opset 27, expected 11 to 26"),
        ("y = Neg (x)", '"own" : 1', "", "has opset 0, expected 11 to 26"),
        ("y = Neg (x)", '"" : 12, "ai.onnx" : 13', "", "at the opsets 12 and 13"),
        ("y = evil.Run (x)", DOMAINS, "", EVIL),
        (f"y = If (c) <{BRANCHES}>", DOMAINS, "", EVIL),
        ("y = own.f (x)", DOMAINS, FUNCTION, EVIL),
    ],
)
def test_opsets_and_operators_that_no_client_has(
    body: str, opsets: str, functions: str, shown: str
) -> None:
    """Custom operators are found in branches and functions, unless their domain is allowed."""
    found = with_operators(body, opsets, functions)
    with pytest.raises(ValueError, match=shown):
        check_operators(found, range(11, 27))
    if "evil" in opsets:
        assert check_operators(found, range(11, 27), ["evil"]) == 18
