"""Pictures, pages and tables of any ONNX file: self-contained, and no name is markup."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import onnx.parser
import pytest
from onnxscript import ir

from models.bake import bake
from models.folders.tiny_folders import write_bert
from models.onnx.tiny_onnx import encoder, write_encoder
from polybake.baking.sources import open_source
from polybake.errors import InputError
from polybake.steps import Normalize, Pool
from polybake.study.inspect.boxes import Box, Picture
from polybake.study.inspect.graph import read_graph
from polybake.study.inspect.page import page
from polybake.study.inspect.picture import write_picture
from polybake.study.inspect.shapes import shape_facts, shape_table
from polybake.study.inspect.svg import svg
from support.clients.hostile import HOSTILE


@pytest.fixture(scope="module")
def baked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A baked model file."""
    folder = tmp_path_factory.mktemp("picture")
    source = open_source(write_bert(folder / "model"))
    out = folder / "out.onnx"
    bake(source, [Pool(mode="mean"), Normalize()], out, name="tiny-bert")
    return out


def test_svg_of_a_baked_model(baked: Path, tmp_path: Path) -> None:
    """The picture has the model's name and encoder, and is equal byte for byte when drawn again."""
    out = tmp_path / "new" / "graph.svg"
    write_picture(baked, out)
    first = out.read_bytes()
    words = [one.text for one in ET.fromstring(first).iter("{http://www.w3.org/2000/svg}text")]  # noqa: S314
    assert words[0] == "tiny-bert"
    assert str(words[1]).startswith("encoder bert, opset 18, operators ")
    write_picture(baked, out)
    assert out.read_bytes() == first
    write_picture(baked, tmp_path / "graph.HTML")
    text = (tmp_path / "graph.HTML").read_text("utf-8")
    assert "<svg " in text
    assert "pool(mode=mean) → normalize()" in text


def test_any_onnx_file(tmp_path: Path) -> None:
    """A file that is not baked bears its own name, and has no steps."""
    path = write_encoder(tmp_path / "model", encoder())
    write_picture(path, tmp_path / "graph.svg")
    text = (tmp_path / "graph.svg").read_text("utf-8")
    assert f">{path.name}</text>" in text
    assert "Gather" in text
    assert 'class="step"' not in text


@pytest.mark.parametrize("name", ["graph.png", "graph", "graph.svg.gz"])
def test_refuses_other_extensions(name: str, baked: Path, tmp_path: Path) -> None:
    """The two that are known are named, and nothing is written."""
    with pytest.raises(InputError, match=r"has the extension \.svg or \.html, found (\.|none)"):
        write_picture(baked, tmp_path / name)
    assert list(tmp_path.iterdir()) == []


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
            write_picture(path, tmp_path / "graph.html")
        except InputError as error:
            refused.append(str(error))
    assert 50 < len(refused) < 450
    assert all(line.isprintable() for line in refused)
    remedies = ("give the path of an .onnx file", "download or export it again")
    assert all(line.endswith(remedies) for line in refused)
    assert caplog.records == []


def test_refuses_a_place_that_cannot_be_written(baked: Path, tmp_path: Path) -> None:
    """A file in the way of the folder is an error of one line."""
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"cannot be written \(.*\); choose another place"):
        write_picture(baked, tmp_path / "file" / "graph.svg")


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
        write_picture(path, tmp_path / "graph.svg")
    assert not (tmp_path / "graph.svg").exists()


SVG = "{http://www.w3.org/2000/svg}"
PICTURE = Picture(
    boxes=(
        Box("input", "input_ids", "int64"),
        Box("input", "attention_mask", "int64"),
        Box("encoder", "encoder.layer", "35 operators: Add × 10, MatMul × 8 + 7 more", times=6),
        Box("step", "pool", "mode=mean"),
        Box("output", "sentence_embedding", "float32"),
    ),
    arrows=((0, 2), (1, 2), (2, 3), (1, 3), (3, 4)),
    shapes=("batch × sequence", "batch × sequence", "batch × sequence × 384", "batch × 384", ""),
)


def texts(drawing: str) -> list[str]:
    return [one.text or "" for one in ET.fromstring(drawing).iter(f"{SVG}text")]  # noqa: S314


def test_all_is_inside() -> None:
    """No box and no path leaves the drawing, and a wide text makes a wide box."""
    root = ET.fromstring(svg(PICTURE, "m", "a line"))  # noqa: S314
    width, height = (float(root.attrib[key]) for key in ("width", "height"))
    group = root.find(f"{SVG}g")
    assert group is not None
    left, top = map(float, re.findall(r"[\d.]+", group.attrib["transform"]))
    boxes = group.findall(f".//{SVG}rect")
    assert len(boxes) == len(PICTURE.boxes) + 2  # one stands for several, and has two behind it
    for box in boxes:
        x, y, wide, high = (float(box.attrib[key]) for key in ("x", "y", "width", "height"))
        assert 0 < left + x < left + x + wide < width
        assert 0 < top + y < top + y + high < height
    assert max(float(box.attrib["width"]) for box in boxes) > 280


def test_asks_for_nothing_and_follows_the_ground() -> None:
    """There is no link to any other file, and colours for a dark ground."""
    drawing = svg(PICTURE, "m", "")
    assert re.findall(r"https?://[^\"]+", drawing) == ["http://www.w3.org/2000/svg"]
    assert not re.search(r"<script|<image|href|@import|url\((?!#polybake-head\))", drawing)
    assert "prefers-color-scheme: dark" in drawing


@pytest.mark.parametrize("name", [HOSTILE, "</text><script>alert(1)</script>", "\0\x1b[0m\ufffe"])
def test_hostile_names_are_text_of_a_drawing(name: str) -> None:
    """The drawing is valid XML and holds no element from a name, whatever the name."""
    boxes = (Box("input", name, name), Box("step", name, name, times=3))
    drawing = svg(Picture(boxes, ((0, 1),), (name, "")), name, name)
    tags = {element.tag.removeprefix(SVG) for element in ET.fromstring(drawing).iter()}  # noqa: S314
    assert tags == {"svg", "title", "style", "defs", "marker", "path", "rect", "g", "text"}
    assert any(name[:8].encode("unicode_escape").decode()[:2] in text for text in texts(drawing))


PAGE_MODEL = """
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


def summaries(text: str) -> list[tuple[int, str]]:
    """What can be opened, with how deep it lies."""
    text, depth, found = re.sub("</?small>", "", text), 0, []
    for tag in re.finditer("<(/?)details|<summary>(.*?)</summary>", text):
        depth += 0 if tag[2] else -1 if tag[1] else 1
        found += [(depth, tag[2])] if tag[2] else []
    return found


def tags(text: str) -> set[str]:
    return {*re.findall(r"<(\w+)", text)}


def test_folds_by_namespace() -> None:
    """Modules lie within each other, with how many values each has; functions are opened, too."""
    text = page(ir.from_onnx_text(PAGE_MODEL), "<svg/>", "tiny", {"opset": "18"})
    assert summaries(text) == [
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


def test_a_page_asks_for_no_other_file() -> None:
    """There is no script, link, image or import."""
    text = page(ir.from_onnx_text(PAGE_MODEL), "", "tiny", {})
    assert not re.search(r"<script|<link|<img|<iframe|src=|href=|url\(|@import|https?:", text)


def test_hostile_names_are_text_of_a_page() -> None:
    """Names of values, modules and the model itself make no element."""
    model = ir.from_onnx_text(PAGE_MODEL)
    plain = tags(page(model, "", "tiny", {"key": "value"}))
    for name in (HOSTILE, "</td><script>alert(1)</script><img src=x onerror=y>"):
        model.graph.inputs[0].name = name
        model.graph[0].name = f"{name}/Relu"
        model.graph[0].op_type = name
        text = page(model, "", name, {name: name})
        assert tags(text) == plain
        assert "<script" not in text
        assert "\u202e" not in text


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
