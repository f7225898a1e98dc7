"""A model file and the file of its weights beside it."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import numpy as np
import onnx
import pytest

from models.bake import bake
from models.folders.tiny_folders import CONFIG, bert_weights, write_bert
from polybake.baking.bake import BakeReport
from polybake.baking.sources import open_source
from polybake.base.modelfile import container
from polybake.base.modelfile.container import check_digest, read_head
from polybake.base.modelfile.fixture import decode_vectors
from polybake.errors import CheckFailed, InputError
from polybake.runtime.embedder import Embedder
from polybake.steps import Normalize, Pool, Quantize, Step
from support.samples.weekly import weekly_but

pytestmark = pytest.mark.slow

WIDE = CONFIG | {"hidden_size": 48, "intermediate_size": 360}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model whose table and products are large enough for int8, and for a file of their own."""
    return write_bert(tmp_path_factory.mktemp("wide") / "model", WIDE, bert_weights(WIDE))


def baked(
    folder: Path, out: Path, place: str, last: Step | None = None, **reduced: str
) -> BakeReport:
    steps = [Pool(mode="mean"), last or Normalize()]
    source = open_source(folder)
    return bake(source, steps, out, name="tiny", weights=place, **reduced)


def vectors(path: Path) -> np.ndarray:
    cases = read_head(path).fixture.cases
    return np.concatenate([decode_vectors(case.embeddings) for case in cases])


@pytest.mark.parametrize(
    "reduced",
    weekly_but(
        2,
        [
            {},
            {"storage": "float16"},
            {"storage": "float16-table"},
            {"precision": "int8"},
            {"precision": "float16"},
        ],
    ),
    ids=str,
)
def test_the_graph_and_its_vectors_are_those_of_one_file(
    folder: Path, tmp_path: Path, reduced: dict[str, str]
) -> None:
    inside = baked(folder, tmp_path / "in.onnx", "inside", **reduced)
    report = baked(folder, tmp_path / "m.onnx", "beside", **reduced)
    head = read_head(report.path)
    check_digest(head)
    weights, whole = onnx.load(inside.path).graph, onnx.load(report.path).graph
    assert [one.SerializeToString() for one in weights.node] == [
        one.SerializeToString() for one in whole.node
    ]
    for one, other in zip(weights.initializer, whole.initializer, strict=True):
        assert (one.name, one.data_type, one.dims) == (other.name, other.data_type, other.dims)
        assert one.raw_data == other.raw_data
    assert np.abs(vectors(inside.path) - vectors(report.path)).max() < 2e-3
    assert Embedder(report.path).self_check() < 1e-2
    assert report.weights == head.weights_path
    assert report.size == report.path.stat().st_size + report.weights.stat().st_size
    assert report.path.stat().st_size < inside.size


def test_everything_is_under_one_fingerprint(folder: Path, tmp_path: Path) -> None:
    report = baked(folder, tmp_path / "m.onnx", "beside")
    head, weights = read_head(report.path), report.weights
    assert weights is not None
    data = weights.read_bytes()
    contract = json.dumps(
        head.manifest.contract.model_dump(mode="json"), sort_keys=True, separators=(",", ":")
    )
    parts = [
        hashlib.sha256(report.path.read_bytes()[head.tail_offset :]).hexdigest(),
        hashlib.sha256(head.tokenizer.encode()).hexdigest(),
        contract,
        hashlib.sha256(data).hexdigest(),
    ]
    assert report.manifest.fingerprint == hashlib.sha256("\n".join(parts).encode()).hexdigest()
    again = baked(folder, tmp_path / "other" / "m.onnx", "beside")
    assert again.path.read_bytes() == report.path.read_bytes()
    assert (tmp_path / "other" / weights.name).read_bytes() == data
    changed = bytearray(data)
    changed[-1] ^= 1
    weights.write_bytes(changed)
    with pytest.raises(CheckFailed, match=r"\.weights does not match its digest; copy it again"):
        check_digest(read_head(report.path))


@pytest.mark.weekly
def test_a_quantization_is_cut_out_with_what_lies_beside(tmp_path: Path) -> None:
    """Ranges of many elements are a large weight, and the edges of integers want them."""
    config = CONFIG | {"hidden_size": 600, "intermediate_size": 20}
    wide = write_bert(tmp_path / "model", config, bert_weights(config))
    ranges = np.stack([np.full(600, -3, np.float32), np.full(600, 3, np.float32)])
    step = Quantize(precision="int8", ranges=ranges)
    report = baked(wide, tmp_path / "m.onnx", "beside", last=step)
    inside = baked(wide, tmp_path / "in.onnx", "inside", last=step)
    assert np.abs(vectors(report.path) - vectors(inside.path)).max() <= 1
    assert Embedder(report.path).self_check() <= 1


def test_an_earlier_pair_is_replaced_and_no_other_weights(folder: Path, tmp_path: Path) -> None:
    """A bake removes the weights of the file that it replaces, and those of no copy of it."""
    out = tmp_path / "m.onnx"
    first = baked(folder, out, "beside").weights
    second = baked(folder, out, "beside", storage="float16").weights
    assert first != second
    check_digest(read_head(out))
    assert [*tmp_path.glob("*.weights")] == [second]
    shutil.copy(out, tmp_path / "copy.onnx")
    baked(folder, tmp_path / "copy.onnx", "inside")
    check_digest(read_head(out))
    baked(folder, out, "inside")
    assert not [*tmp_path.glob("*.weights")]


def test_a_bake_that_cannot_be_placed_leaves_what_was_there(folder: Path, tmp_path: Path) -> None:
    """The graph cannot be renamed to a folder; by then, the weights are in their place."""
    report = baked(folder, tmp_path / "made" / "m.onnx", "beside")
    head = read_head(report.path)
    assert report.weights is not None
    tail = tmp_path / "made" / "tail"
    tail.write_bytes(report.path.read_bytes()[head.tail_offset :])
    out = tmp_path / "out" / "m.onnx"
    (out / "full").mkdir(parents=True)
    for known in ([], [report.weights.name]):
        for name in known:
            shutil.copy(report.weights, out.with_name(name))
        with pytest.raises(InputError, match=r"m\.onnx: cannot be written"):
            container.write(out, tail, head.manifest, head.tokenizer, head.fixture)
        assert sorted(one.name for one in out.parent.iterdir()) == sorted([*known, "m.onnx"])


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("größe.onnx", "'größe-0000000000000000.weights' beside it; choose an --output of ASCII"),
        (".m.onnx", "choose an --output of ASCII letters"),
    ],
)
def test_names_that_a_file_of_weights_cannot_have(
    folder: Path, tmp_path: Path, name: str, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        baked(folder, tmp_path / name, "beside")
    assert not list(tmp_path.iterdir())
