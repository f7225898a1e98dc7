"""Tables of any ONNX file: what is known of each value, and no damage that is more than a line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx.parser
import pytest
from onnxscript import ir

from models.onnx.tiny_onnx import encoder, write_encoder
from polybake.errors import InputError
from polybake.study.inspect.graph import read_graph
from polybake.study.inspect.shapes import shape_facts, shape_table

MODEL = """
<ir_version: 10, opset_import: ["" : 18, "own" : 1]>
g (bool c, float[N, 2] x) => (float[N, 2] y)
<float[2] w = {1.0, 2.0}>
{
    ["encoder/layer.0/Mul"] a = Mul (x, w)  ["encoder/layer.1/Mul"] b = Mul (a, w)
    ["steps.0/If"] d = If (c) <
        then_branch = t () => (float[N, 2] p) { p = Neg (b) },
        else_branch = e () => (float[N, 2] q) { q = LeakyRelu <alpha = 0.5> (b) }
    >
    ["steps.1/Twice"] y = own.Twice (d)
}
<domain: "own", opset_import: ["" : 18]>
Twice (given) => (result) { result = Add (given, given) }
"""


def test_damage_is_one_line_whatever_it_hits(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Each of 500 damaged files is shown or refused in one line; no library prints a word."""
    random, path = np.random.default_rng(1), tmp_path / "m.onnx"
    whole = onnx.parser.parse_model(MODEL).SerializeToString()
    refused = []
    for _ in range(500):
        data = bytearray(whole)
        for place in random.integers(0, len(data), random.choice([1, 1, 2, 5])):
            data[place] ^= 1 << random.integers(8)
        path.write_bytes(data)
        try:
            shape_table(shape_facts(read_graph(path)))
        except InputError as error:
            refused.append(str(error))
    assert 50 < len(refused) < 450
    assert all(line.isprintable() for line in refused)
    remedies = ("give the path of an .onnx file", "download or export it again")
    assert all(line.endswith(remedies) for line in refused)
    assert caplog.records == []


@pytest.mark.parametrize(
    "body",
    [
        "last_hidden_state = Tanh (rows)  rows = Gather (table, input_ids)",
        "last_hidden_state = Tanh (last_hidden_state)",
        "rows = Tanh (last_hidden_state)  last_hidden_state = Tanh (rows)",
    ],
)
def test_refuses_nodes_out_of_order(body: str, tmp_path: Path) -> None:
    """A node above the one it reads, and a circle, are errors that name what is read."""
    path = write_encoder(tmp_path / "model", encoder(body=body))
    with pytest.raises(InputError, match=r"topologically sorted, however input '(rows|last_hid)"):
        read_graph(path)


SHAPES = """
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


def test_facts() -> None:
    """Values are grouped by namespace in order of appearance; what is not known is null."""
    facts = shape_facts(ir.from_onnx_text(SHAPES))
    x = {"name": "x", "dtype": "float32", "shape": ["N", 7]}
    assert facts["inputs"] == [x]
    assert [group["namespace"] for group in facts["nodes"]] == ["head/dense", "head", ""]
    assert facts["nodes"][0]["values"] == [
        {"name": "h", "dtype": "float32", "shape": ["N", 3], "operator": "MatMul"},
        {"name": "b", "dtype": None, "shape": None, "operator": "Add"},
    ]
    assert facts["outputs"] == [{"name": "y", "dtype": "float32", "shape": ["N", 3]}]
    assert facts["weights"] == [{"name": "w", "dtype": "float32", "shape": [7, 3]}]
