"""ONNX files whose weights lie in other files, honest and hostile."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
import pytest

from models.onnx.tiny_onnx import BODY, TABLE, encoder, expected_tokens, write_encoder
from polybake.baking.bake import bake
from polybake.baking.recipe.resolve import resolve
from polybake.baking.sources import open_source
from polybake.base.modelfile.container import read_head
from polybake.base.modelfile.fixture import decode_vectors
from polybake.errors import InputError

POOL = [{"step": "pool", "mode": "mean"}]


def external(folder: Path, location: str = "model.onnx_data") -> Path:
    """An encoder whose table lies in a file beside it."""
    return write_encoder(folder, save_as_external_data=True, location=location, size_threshold=0)


def hostile(folder: Path, **entries: str) -> Path:
    """An encoder whose external data has these entries instead of its own."""
    path = external(folder)
    model = onnx.load(path, load_external_data=False)
    set_entries(model.graph.initializer[0], entries)
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


def assert_baked(out: Path) -> None:
    for case in read_head(out).fixture.cases:
        rows = [expected_tokens(list(ids)).mean(axis=0) for ids in case.input_ids]
        assert decode_vectors(case.embeddings) == pytest.approx(np.stack(rows), abs=1e-5)
    tensors = onnx.load(out, load_external_data=False).graph.initializer
    assert {tensor.data_location for tensor in tensors} == {onnx.TensorProto.DEFAULT}


def test_becomes_one_file(tmp_path: Path) -> None:
    """Weights beside the file are baked into the one file."""
    bake_file(external(tmp_path / "m"), tmp_path / "out.onnx")
    assert_baked(tmp_path / "out.onnx")


def test_becomes_one_file_from_a_subfolder(tmp_path: Path) -> None:
    """Weights may lie deeper in the model's folder."""
    (tmp_path / "m" / "weights").mkdir(parents=True)
    bake_file(external(tmp_path / "m", "weights/table.bin"), tmp_path / "out.onnx")
    assert_baked(tmp_path / "out.onnx")


def test_bakes_a_hugging_face_cache(tmp_path: Path) -> None:
    """A cache, in which every file of a snapshot is a link to a blob, bakes."""
    cache = tmp_path / "models--owner--name"
    external(tmp_path / "m")
    (cache / "blobs").mkdir(parents=True)
    snapshot = cache / "snapshots" / "0a1b2c"
    snapshot.mkdir(parents=True)
    for number, file in enumerate(sorted((tmp_path / "m").iterdir())):
        file.rename(cache / "blobs" / f"{number}")
        (snapshot / file.name).symlink_to(Path("..", "..", "blobs", f"{number}"))
    bake_file(snapshot / "model.onnx", tmp_path / "out.onnx")
    assert_baked(tmp_path / "out.onnx")


@pytest.mark.parametrize("location", ["../secret", "/etc/hostname", "a/../../secret", "C:\\x", ""])
def test_refuses_a_path_out_of_the_folder(location: str, tmp_path: Path) -> None:
    """A location outside the model's folder is never opened."""
    (tmp_path / "secret").write_bytes(TABLE.tobytes())
    with pytest.raises(InputError, match=r"outside the model's folder|not beside the file"):
        open_source(hostile(tmp_path / "m", location=location))


def test_refuses_a_link_out_of_the_folder(tmp_path: Path) -> None:
    """A link that leaves the model's folder is refused, naming where it leads."""
    (tmp_path / "secret").write_bytes(TABLE.tobytes())
    path = external(tmp_path / "m")
    (tmp_path / "m" / "model.onnx_data").unlink()
    (tmp_path / "m" / "model.onnx_data").symlink_to(tmp_path / "secret")
    with pytest.raises(InputError, match=r"links to .*secret, outside the model's folder"):
        open_source(path)


def test_names_a_missing_file(tmp_path: Path) -> None:
    """Weights that were not downloaded are named."""
    path = external(tmp_path / "m")
    (tmp_path / "m" / "model.onnx_data").unlink()
    with pytest.raises(InputError, match=r"'table' lies in 'model\.onnx_data', which is not"):
        open_source(path)


@pytest.mark.parametrize(
    "entries",
    [
        {"offset": "8"},
        {"offset": "-8"},
        {"offset": "99999999999999999999"},
        {"length": "4"},
        {"length": "99999999999"},
        {"length": "1e3"},
        {"offset": "1" * 5000},
        {"length": "1" * 5000},
        {"offset": "\u0663"},
        {"offset": ""},
        {"basepath": "/etc"},
    ],
)
def test_refuses_impossible_places(entries: dict[str, str], tmp_path: Path) -> None:
    """An offset or length beyond the file, a length that is not the shape's, and unknown keys."""
    with pytest.raises(InputError, match="'table' has impossible"):
        open_source(hostile(tmp_path / "m", **entries))


def test_refuses_a_repeated_key(tmp_path: Path) -> None:
    """Two locations for one weight are refused: readers would disagree."""
    path = external(tmp_path / "m")
    model = onnx.load(path, load_external_data=False)
    model.graph.initializer[0].external_data.add(key="location", value="../secret")
    path.write_bytes(model.SerializeToString())
    with pytest.raises(InputError, match="impossible keys"):
        open_source(path)


def test_refuses_a_name_that_is_too_long(tmp_path: Path) -> None:
    """A location that no file system can hold is an error like any other."""
    with pytest.raises(InputError, match=r"cannot be read \(File name too long\); name a file"):
        open_source(hostile(tmp_path / "m", location="a" * 5000))


@pytest.mark.parametrize("data_type", [0, 99])
def test_refuses_weights_of_no_type(data_type: int, tmp_path: Path) -> None:
    """A weight inside the file whose type ONNX does not have is refused by name."""
    model = encoder()
    model.graph.initializer[0].data_type = data_type
    with pytest.raises(InputError, match=f"weight 'table' has impossible type {data_type}; export"):
        open_source(write_encoder(tmp_path / "m", model))


@pytest.mark.parametrize("raw", [b"", b"\0" * 10, b"\0" * 11])
@pytest.mark.parametrize("data_type", [onnx.TensorProto.FLOAT16, onnx.TensorProto.BFLOAT16])
def test_refuses_narrow_weights_without_their_data(
    data_type: int, raw: bytes, tmp_path: Path
) -> None:
    """Fewer numbers than the shape says are an error that names the weight."""
    model = encoder()
    model.graph.initializer.add(name="w", data_type=data_type, dims=[3, 4], raw_data=raw)
    with pytest.raises(InputError, match=r"weight 'w' of shape \[3, 4\] has other data .*; down"):
        open_source(write_encoder(tmp_path / "m", model))


def test_refuses_impossible_tensors(tmp_path: Path) -> None:
    """A negative axis, an unknown type and text cannot lie outside."""
    for index, change in enumerate(({"dims": [-1, 6]}, {"data_type": 99}, {"data_type": 8})):
        path = external(tmp_path / f"{index}")
        model = onnx.load(path, load_external_data=False)
        tensor = model.graph.initializer[0]
        if "dims" in change:
            tensor.dims[:] = change["dims"]
        else:
            tensor.data_type = change["data_type"]
        path.write_bytes(model.SerializeToString())
        with pytest.raises(InputError, match=r"impossible (shape|type)"):
            open_source(path)


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


def hiding_places() -> Iterator[tuple[str, onnx.ModelProto]]:
    """Models that name a file outside where a careless reader does not look."""
    tensor = onnx.numpy_helper.from_array(TABLE, "hidden")
    tensor.ClearField("raw_data")
    tensor.data_location = onnx.TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="../secret")
    constant = onnx.helper.make_node("Constant", [], ["unused"], value=tensor)

    model = encoder()
    model.graph.node.insert(0, constant)
    yield "attribute", model

    branch = onnx.helper.make_graph([constant], "branch", [], [])
    branch.output.add(name="unused")
    model = encoder()
    model.graph.node.append(
        onnx.helper.make_node("If", ["x"], ["y"], then_branch=branch, else_branch=branch)
    )
    yield "subgraph", model

    inner = onnx.helper.make_graph([], "inner", [], [], initializer=[tensor])
    model = encoder()
    model.graph.node.append(onnx.helper.make_node("Loop", ["x"], ["y"], body=inner))
    yield "initializer of a subgraph", model

    model = encoder()
    opsets = [onnx.helper.make_opsetid("", 12)]
    model.functions.append(
        onnx.helper.make_function("own", "f", [], ["unused"], [constant], opsets)
    )
    yield "function", model

    model = encoder()
    function = onnx.helper.make_function("own", "f", [], [], [], opsets)
    function.attribute_proto.append(onnx.helper.make_attribute("default", tensor))
    model.functions.append(function)
    yield "attribute of a function", model

    model = encoder()
    node = onnx.helper.make_node("X", [], ["y"])
    attribute = onnx.AttributeProto(name="list", type=onnx.AttributeProto.TENSORS)
    attribute.tensors.append(tensor)
    node.attribute.append(attribute)
    model.graph.node.append(node)
    yield "list of tensors", model


@pytest.mark.parametrize(
    "model",
    [pytest.param(model, id=place) for place, model in hiding_places()],
)
def test_looks_everywhere(model: onnx.ModelProto, tmp_path: Path) -> None:
    """External data is checked wherever a tensor can stand."""
    (tmp_path / "secret").write_bytes(TABLE.tobytes())
    path = write_encoder(tmp_path / "m")
    path.write_bytes(model.SerializeToString())
    with pytest.raises(InputError, match=r"'\.\./secret' lies outside the model's folder"):
        open_source(path)


def test_refuses_sparse_weights(tmp_path: Path) -> None:
    """Sparse weights, whose parts may lie outside too, are refused."""
    values = onnx.numpy_helper.from_array(np.ones(1, np.float32), "sparse")
    indices = onnx.numpy_helper.from_array(np.zeros(1, np.int64), "indices")
    sparse = onnx.helper.make_sparse_tensor(values, indices, [9])
    in_graph = encoder()
    in_graph.graph.sparse_initializer.append(sparse)
    in_node = encoder()
    in_node.graph.node.append(
        onnx.helper.make_node("Constant", [], ["unused"], sparse_value=sparse)
    )
    for number, model in enumerate((in_graph, in_node)):
        path = write_encoder(tmp_path / f"{number}")
        path.write_bytes(model.SerializeToString())
        with pytest.raises(InputError, match="has sparse weights"):
            open_source(path)


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
    """A file of something else is named, with the remedy."""
    path = write_encoder(tmp_path / "m")
    path.write_bytes(content)
    with pytest.raises(InputError, match=rf"model\.onnx: {shown}"):
        open_source(path)


def test_refuses_a_graph_without_sense(tmp_path: Path) -> None:
    """A graph that uses what nothing makes is refused and not a crash."""
    body = BODY.replace("Gather (table, input_ids)", "Gather (table, nothing)")
    path = write_encoder(tmp_path / "m", encoder(body=body))
    with pytest.raises(InputError, match=r"model\.onnx: is not a valid ONNX graph .*nothing"):
        bake_file(path, tmp_path / "out.onnx")
    assert not (tmp_path / "out.onnx").exists()
