"""The operators that a file may use."""

from __future__ import annotations

import onnx
import pytest

from polybake.baking.graph.operators import check_operators

BRANCHES = (
    "then_branch = t () => (float r) { r = Neg (x) }, "
    "else_branch = e () => (float r) { r = evil.Run (x) }"
)
FUNCTION = '<domain: "own", opset_import: ["" : 18, "evil" : 1]>'


def model(body: str, opsets: str = '"" : 18', functions: str = "") -> onnx.ModelProto:
    text = (
        f"<ir_version: 8, opset_import: [{opsets}]> g (bool c, float x) => (float y) {{ {body} }}"
    )
    return onnx.parser.parse_model(text + functions)


@pytest.mark.parametrize("opset", [11, 18, 26])
def test_gives_the_opset(opset: int) -> None:
    """ONNX's domain has two names, which count as one."""
    for name in ("", "ai.onnx"):
        assert check_operators(model("y = Neg (x)", f'"{name}" : {opset}'), range(11, 27)) == opset
    both = model("y = Neg (x)", f'"" : {opset}, "ai.onnx" : {opset}')
    assert check_operators(both, range(11, 27)) == opset


@pytest.mark.parametrize(
    ("opsets", "shown"),
    [
        ('"" : 10', "has opset 10, expected 11 to 26; export it again"),
        ('"" : 27', "has opset 27, expected 11 to 26"),
        ('"own" : 1', "has opset 0, expected 11 to 26"),
        ('"" : 12, "ai.onnx" : 13', "at the opsets 12 and 13; export it with one"),
    ],
)
def test_names_other_opsets(opsets: str, shown: str) -> None:
    """An opset that clients cannot run is refused with those that they can."""
    with pytest.raises(ValueError, match=shown):
        check_operators(model("y = Neg (x)", opsets), range(11, 27))


@pytest.mark.parametrize(
    ("body", "functions"),
    [
        ("y = evil.Run (x)", ""),
        (f"y = If (c) <{BRANCHES}>", ""),
        ("y = own.f (x)", f"{FUNCTION} f (x) => (y) {{ y = evil.Run (x) }}"),
    ],
)
def test_finds_foreign_operators_everywhere(body: str, functions: str) -> None:
    """Custom operators are found in branches and functions; allowed domains pass."""
    found = model(body, '"" : 18, "evil" : 1, "own" : 1', functions)
    with pytest.raises(ValueError, match=r"custom operator evil\.Run, which no client has"):
        check_operators(found, range(11, 27))
    assert check_operators(found, range(11, 27), ["evil"]) == 18
