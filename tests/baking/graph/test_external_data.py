"""ONNX files whose weights lie in other files, honest and hostile."""

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper

from models.bake import bake
from models.onnx.tiny_onnx import TABLE, encoder, expected_tokens, write_encoder
from polybake.baking.recipe.resolve import resolve
from polybake.baking.sources import open_source
from polybake.base.modelfile.container import read_head
from polybake.base.modelfile.fixture import decode_vectors
from polybake.errors import InputError

POOL = [{"step": "pool", "mode": "mean"}]


def external(folder: Path, location: str = "model.onnx_data") -> Path:
    """An encoder whose table lies in a file beside it."""
    return write_encoder(folder, save_as_external_data=True, location=location, size_threshold=0)


def changed(folder: Path, change: Callable[[onnx.TensorProto], None]) -> Path:
    """The file with another tensor in the place of its table."""
    path = external(folder)
    model = onnx.load(path, load_external_data=False)
    change(model.graph.initializer[0])
    path.write_bytes(model.SerializeToString())
    return path


def set_entries(tensor: onnx.TensorProto, entries: dict[str, str]) -> None:
    kept = {entry.key: entry.value for entry in tensor.external_data} | entries
    del tensor.external_data[:]
    for key, value in kept.items():
        tensor.external_data.add(key=key, value=value)


def bake_file(path: Path, out: Path) -> None:
    source = open_source(path)
    bake(source, resolve(POOL, base=path.parent, source=source), out, name="tiny")


@pytest.mark.parametrize("location", ["model.onnx_data", "weights/table.bin"])
@pytest.mark.parametrize("links", [False, True], ids=["files", "links of a cache"])
def test_becomes_one_file(location: str, links: bool, tmp_path: Path) -> None:
    """Weights beside the file or deeper, also where every file of a folder is a link to a blob."""
    folder = tmp_path / "models--owner--name" / "snapshots" / "0a1b2c"
    (folder / location).parent.mkdir(parents=True)
    path = external(folder, location)
    if links:
        blobs = tmp_path / "models--owner--name" / "blobs"
        blobs.mkdir()
        for number, file in enumerate([one for one in folder.rglob("*") if one.is_file()]):
            file.rename(blobs / f"{number}")
            file.symlink_to(os.path.relpath(blobs / f"{number}", file.parent))
    bake_file(path, tmp_path / "out.onnx")
    for case in read_head(tmp_path / "out.onnx").fixture.cases:
        rows = [expected_tokens(list(ids)).mean(axis=0) for ids in case.input_ids]
        assert decode_vectors(case.embeddings) == pytest.approx(np.stack(rows), abs=1e-5)
    tensors = onnx.load(tmp_path / "out.onnx", load_external_data=False).graph.initializer
    assert {tensor.data_location for tensor in tensors} == {onnx.TensorProto.DEFAULT}


def repeated(tensor: onnx.TensorProto) -> None:
    tensor.external_data.add(key="location", value="../secret")


PLACE = "'table' has impossible"
CHANGES = [
    *({"location": one} for one in ("../secret", "/etc/hostname", "a/../../secret", "C:\\x", "")),
    *({"offset": one} for one in ("8", "-8", "9" * 20, "1" * 5000, "\u0663", "")),
    *({"length": one} for one in ("4", "99999999999", "1e3", "1" * 5000)),
    {"location": "a" * 5000},
    {"basepath": "/etc"},
]


@pytest.mark.parametrize("entries", CHANGES, ids=lambda one: str(one)[:30])
def test_refuses_impossible_places(entries: dict[str, str], tmp_path: Path) -> None:
    """A location outside the model's folder is never opened; readers would take odd numbers apart.

    Nor are an offset or length beyond the file, a length that is not the shape's, unknown keys.
    """
    (tmp_path / "secret").write_bytes(TABLE.tobytes())
    path = changed(tmp_path / "m", lambda tensor: set_entries(tensor, entries))
    shown = PLACE
    if "location" in entries:
        shown = "outside the model's folder|not beside the file|File name too long"
    with pytest.raises(InputError, match=shown):
        open_source(path)


@pytest.mark.parametrize(
    ("change", "shown"),
    [
        (repeated, "impossible keys"),
        (lambda tensor: tensor.dims.__setitem__(0, -1), "impossible shape"),
        (lambda tensor: setattr(tensor, "data_type", 99), "impossible type"),
        (lambda tensor: setattr(tensor, "data_type", 8), "impossible type"),
    ],
    ids=["two locations", "negative axis", "unknown type", "text"],
)
def test_refuses_impossible_tensors(
    change: Callable[[onnx.TensorProto], None], shown: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=shown):
        open_source(changed(tmp_path / "m", change))


@pytest.mark.parametrize("there", [False, True])
def test_refuses_a_file_that_is_not_there(there: bool, tmp_path: Path) -> None:
    """A link that leaves the model's folder is refused, naming where it leads."""
    (tmp_path / "secret").write_bytes(TABLE.tobytes())
    path = external(tmp_path / "m")
    (tmp_path / "m" / "model.onnx_data").unlink()
    shown = r"'table' lies in 'model\.onnx_data', which is not"
    if there:
        (tmp_path / "m" / "model.onnx_data").symlink_to(tmp_path / "secret")
        shown = r"links to .*secret, outside the model's folder"
    with pytest.raises(InputError, match=shown):
        open_source(path)


@pytest.mark.parametrize(
    ("data_type", "raw", "shown"),
    [
        *((kind, b"", f"weight 'w' has impossible type {kind}; export") for kind in (0, 99)),
        *(
            (kind, raw, r"weight 'w' of shape \[3, 4\] has other data .*; down")
            for kind in (onnx.TensorProto.FLOAT16, onnx.TensorProto.BFLOAT16)
            for raw in (b"", b"\0" * 10, b"\0" * 11)
        ),
    ],
)
def test_refuses_weights_within_the_file(
    data_type: int, raw: bytes, shown: str, tmp_path: Path
) -> None:
    """Those of no type, and fewer numbers than the shape says."""
    model = encoder()
    model.graph.initializer.add(name="w", data_type=data_type, dims=[3, 4], raw_data=raw)
    with pytest.raises(InputError, match=shown):
        open_source(write_encoder(tmp_path / "m", model))


def test_refuses_more_than_one_file_holds(tmp_path: Path) -> None:
    """Many weights on one region cannot fill the memory: 2 GiB is refused before reading."""
    path = external(tmp_path / "m")
    with (tmp_path / "m" / "model.onnx_data").open("r+b") as file:
        file.truncate(2**30)
    model = onnx.load(path, load_external_data=False)
    for number in range(3):
        tensor = model.graph.initializer.add()
        tensor.CopyFrom(model.graph.initializer[0])
        tensor.name, tensor.dims[:] = f"huge{number}", [2**28]
        set_entries(tensor, {"offset": "0", "length": str(2**30)})
    path.write_bytes(model.SerializeToString())
    with pytest.raises(InputError, match="one ONNX file holds at most"):
        open_source(path)


def hiding_places() -> dict[str, onnx.ModelProto]:
    """Models that name a file outside where a careless reader does not look."""
    tensor = onnx.numpy_helper.from_array(TABLE, "hidden")
    tensor.ClearField("raw_data")
    tensor.data_location = onnx.TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="../secret")
    constant = helper.make_node("Constant", [], ["unused"], value=tensor)
    branch = helper.make_graph([constant], "branch", [], [])
    branch.output.add(name="unused")
    body = helper.make_graph([], "body", [], [], initializer=[tensor])
    many = onnx.AttributeProto(name="list", type=onnx.AttributeProto.TENSORS, tensors=[tensor])
    listed = onnx.NodeProto(op_type="X", output=["y"], attribute=[many])
    opsets = [helper.make_opsetid("", 12)]
    within = helper.make_function("own", "f", [], ["unused"], [constant], opsets)
    default = helper.make_function("own", "f", [], [], [], opsets)
    default.attribute_proto.append(helper.make_attribute("default", tensor))
    nodes = {
        "attribute": constant,
        "branch": helper.make_node("If", ["x"], ["y"], then_branch=branch, else_branch=branch),
        "initializer of a branch": helper.make_node("Loop", ["x"], ["y"], body=body),
        "list of tensors": listed,
    }
    found = {name: encoder() for name in (*nodes, "function", "attribute of a function")}
    for name, node in nodes.items():
        found[name].graph.node.insert(0, node)
    found["function"].functions.append(within)
    found["attribute of a function"].functions.append(default)
    return found


@pytest.mark.parametrize("model", hiding_places().values(), ids=hiding_places())
def test_looks_everywhere(model: onnx.ModelProto, tmp_path: Path) -> None:
    """External data is checked wherever a tensor can stand."""
    (tmp_path / "secret").write_bytes(TABLE.tobytes())
    path = write_encoder(tmp_path / "m")
    path.write_bytes(model.SerializeToString())
    with pytest.raises(InputError, match=r"'\.\./secret' lies outside the model's folder"):
        open_source(path)


@pytest.mark.parametrize("place", ["graph", "node"])
def test_refuses_sparse_weights(place: str, tmp_path: Path) -> None:
    """Sparse weights, whose parts may lie outside too, are refused."""
    values = onnx.numpy_helper.from_array(np.ones(1, np.float32), "sparse")
    indices = onnx.numpy_helper.from_array(np.zeros(1, np.int64), "indices")
    sparse, model = helper.make_sparse_tensor(values, indices, [9]), encoder()
    if place == "graph":
        model.graph.sparse_initializer.append(sparse)
    else:
        node = helper.make_node("Constant", [], ["unused"], sparse_value=sparse)
        model.graph.node.append(node)
    path = write_encoder(tmp_path / "m")
    path.write_bytes(model.SerializeToString())
    with pytest.raises(InputError, match="has sparse weights"):
        open_source(path)
