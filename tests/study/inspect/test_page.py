"""The page: one file, folded by namespace, in which no name is markup."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from onnxscript import ir

from polybake.study.inspect.page import page
from support.clients.hostile import HOSTILE

TEXT = """
<ir_version: 8, opset_import: ["" : 18, "own" : 1]>
g (float[N] x) => (float[N] y)
<float[2] w = {1.0, 2.0}>
{
    ["encoder/layer.0/Relu"] a = Relu (x)
    ["encoder/layer.1/Tanh"] b = Tanh (a)
    [last] y = own.Twice (b)
}
<domain: "own", opset_import: ["" : 18]>
Twice (given) => (result) { result = Add (given, given) }
"""


class Outline(HTMLParser):
    """Summaries with their depth, and every tag."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.summaries: list[tuple[int, str]] = []
        self._depth, self._within = 0, False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        self.tags.add(tag)
        self._depth += tag == "details"
        if tag == "summary":
            self._within = True
            self.summaries.append((self._depth, ""))

    def handle_endtag(self, tag: str) -> None:
        self._depth -= tag == "details"
        self._within = self._within and tag != "summary"

    def handle_data(self, data: str) -> None:
        if self._within:
            depth, text = self.summaries[-1]
            self.summaries[-1] = depth, text + data


def test_folds_by_namespace() -> None:
    """Modules lie within each other, with how many values each has; functions are opened, too."""
    text = page(ir.from_onnx_text(TEXT), "<svg/>", "tiny", {"opset": "18"})
    assert Outline(text).summaries == [
        (1, "inputs 1"),
        (1, "encoder 2"),
        (2, "layer.0 1"),
        (2, "layer.1 1"),
        (1, "without a namespace 1"),
        (1, "function Twice 1"),
        (1, "outputs 1"),
        (1, "weights 1"),
    ]
    assert "<td>Relu<td>a<td>" in text
    assert "<td>Add<td>result<td>" in text
    assert "<th>opset<td>18" in text


def test_asks_for_no_other_file() -> None:
    """There is no script, link, image or import."""
    text = page(ir.from_onnx_text(TEXT), "", "tiny", {})
    assert not re.search(r"<script|<link|<img|<iframe|src=|href=|url\(|@import|https?:", text)


def test_hostile_names_are_text() -> None:
    """Names of values, modules and the model itself make no element."""
    model = ir.from_onnx_text(TEXT)
    plain = Outline(page(model, "", "tiny", {"key": "value"})).tags
    for name in (HOSTILE, "</td><script>alert(1)</script><img src=x onerror=y>"):
        model.graph.inputs[0].name = name
        model.graph[0].name = f"{name}/Relu"
        model.graph[0].op_type = name
        text = page(model, "", name, {name: name})
        assert Outline(text).tags == plain
        assert "<script" not in text
        assert "\u202e" not in text
