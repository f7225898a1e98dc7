"""A picture written to a file."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import onnx.parser
import pytest

from models.folders.tiny_folders import write_bert
from models.onnx.tiny_onnx import encoder, write_encoder
from polybake.baking.bake import bake
from polybake.baking.sources import open_source
from polybake.errors import InputError
from polybake.steps import Normalize, Pool
from polybake.study.inspect.graph import read_graph
from polybake.study.inspect.picture import write_picture
from polybake.study.inspect.shapes import shape_facts, shape_table


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


def test_html_of_a_baked_model(baked: Path, tmp_path: Path) -> None:
    """The page holds the drawing and the steps."""
    out = tmp_path / "graph.HTML"
    write_picture(baked, out)
    text = out.read_text("utf-8")
    assert text.startswith("<!DOCTYPE html>")
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


TEXT = """
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
    whole = onnx.parser.parse_model(TEXT).SerializeToString()
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
