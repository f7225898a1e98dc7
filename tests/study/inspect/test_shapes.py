"""Dtype and shape of every value, as facts and as a table."""

from __future__ import annotations

from onnxscript import ir

from polybake.study.inspect.shapes import shape_facts, shape_table

TEXT = """
<ir_version: 8, opset_import: ["" : 18]>
tiny (float[N, 7] x) => (float[N, 3] y)
<float[7, 3] w = {0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0}, float[N, 3] h>
{
    ["head/dense/MatMul"] h = MatMul (x, w)
    ["head/act"] a = Tanh (h)
    ["head/dense/Add"] b = Add (a, h)
    [last] y = Identity (b)
}
"""

TABLE = """\
inputs
  x  float32  [N, 7]
head/dense
  h  float32  [N, 3]  MatMul
  b  ?        ?       Add
head
  a  ?        ?       Tanh
(no namespace)
  y  float32  [N, 3]  Identity
outputs
  y  float32  [N, 3]
weights
  w  float32  [7, 3]"""


def test_facts() -> None:
    """Values are grouped by namespace in order of appearance; what is not known is null."""
    facts = shape_facts(ir.from_onnx_text(TEXT))
    x = {"name": "x", "dtype": "float32", "shape": ["N", 7]}
    assert facts["inputs"] == [x]
    assert [group["namespace"] for group in facts["nodes"]] == ["head/dense", "head", ""]
    assert facts["nodes"][0]["values"] == [
        {"name": "h", "dtype": "float32", "shape": ["N", 3], "operator": "MatMul"},
        {"name": "b", "dtype": None, "shape": None, "operator": "Add"},
    ]
    assert facts["outputs"] == [{"name": "y", "dtype": "float32", "shape": ["N", 3]}]
    assert facts["weights"] == [{"name": "w", "dtype": "float32", "shape": [7, 3]}]


def test_table() -> None:
    """Columns stand below each other, and a question mark is what is not known."""
    assert shape_table(shape_facts(ir.from_onnx_text(TEXT))) == TABLE


def test_names_cannot_steer_a_terminal() -> None:
    """Escape sequences and line breaks of a hostile file are shown as text."""
    model = ir.from_onnx_text(TEXT)
    model.graph.inputs[0].name = "x\x1b[2J\n"
    model.graph[0].name = "evil\x1b]0;/MatMul"
    table = shape_table(shape_facts(model))
    assert "\x1b" not in table
    assert r"x\x1b[2J\n" in table
    assert len(table.splitlines()) == len(TABLE.splitlines()) + 1
