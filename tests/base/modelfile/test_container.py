"""The container: written whole, read without an ONNX library, refused by name."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polybake.base.modelfile import container as modelfile
from polybake.base.modelfile.container import check_tail, read_head, tail_digest
from polybake.base.modelfile.manifest import parse_manifest
from polybake.errors import CheckFailed, InputError


def refused(path: Path, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read_head(path)
    assert str(caught.value).startswith(f"{path}: {message}")


@pytest.fixture
def changed(every_feed: Path, tmp_path: Path):
    def write(change) -> Path:
        path = tmp_path / "changed.onnx"
        path.write_bytes(change(every_feed.read_bytes()))
        return path

    return write


def test_the_head_is_what_was_written(every_feed: Path) -> None:
    """Manifest, tokenizer and fixture come back, and the digests hold."""
    head = read_head(every_feed)
    assert head.manifest.name == "every-feed"
    assert json.loads(head.tokenizer)["truncation"]["max_length"] == 16
    assert [case.id for case in head.fixture.cases][:2] == ["plain", "empty"]
    assert tail_digest(every_feed, head.tail_offset) == head.digests.tail
    assert head.fixture.fingerprint == head.manifest.fingerprint


def test_the_file_is_valid_onnx(every_feed: Path) -> None:
    """Onnx loads the file, finds the four entries in order, and its checker passes."""
    model = onnx.load(str(every_feed))
    onnx.checker.check_model(model, full_check=True)
    assert [prop.key for prop in model.metadata_props] == [
        "polybake.manifest",
        "polybake.tokenizer",
        "polybake.fixture",
        "polybake.digests",
    ]


def test_every_value_is_ascii(every_feed: Path) -> None:
    """The whole head is ASCII, but for protobuf's own lengths."""
    for prop in onnx.load(str(every_feed)).metadata_props:
        assert prop.value.isascii()


def test_a_missing_file(tmp_path: Path) -> None:
    """A path that does not exist is named, with the remedy."""
    refused(tmp_path / "no.onnx", "cannot be read (No such file or directory); give the path")


def test_what_stands_behind_the_tail_is_noticed(changed) -> None:
    """A file that was cut, or that another was appended to, is no whole copy."""
    refused(changed(lambda data: data[:-1]), "has ")
    refused(changed(lambda data: data + b"\x00"), "has ")


def test_a_fixture_of_another_format_is_named_when_it_is_read(changed) -> None:
    """The file stays usable for readers that need no golden cases."""
    whole = changed(lambda data: data)
    with pytest.raises(InputError, match=r"polybake\.fixture is damaged; bake the model again"):
        _ = dataclasses.replace(read_head(whole), fixture_json=b'{"format": 2}').fixture


def test_a_newer_format_names_its_writer(every_feed: Path) -> None:
    """A manifest of a later format is refused with the version that wrote it."""
    data = read_head(every_feed).manifest.model_dump(mode="json")
    with pytest.raises(InputError, match=r"format 3 is newer than 2; use polybake 9\.9, which"):
        parse_manifest(json.dumps(data | {"format": 3, "generator": "9.9"}), "m.onnx")


def test_a_changed_graph_is_a_verdict(changed) -> None:
    """The head says nothing of it; the tail's digest does."""
    path = changed(lambda data: data[:-1] + bytes([data[-1] ^ 1]))
    with pytest.raises(CheckFailed, match="the graph does not match its digest"):
        check_tail(read_head(path))


@given(st.binary(max_size=300))
def test_arbitrary_bytes_never_crash_the_reader(data: bytes) -> None:
    """The reader answers any bytes with an InputError."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.onnx"
        path.write_bytes(data)
        with pytest.raises(InputError):
            read_head(path)


def test_a_file_too_large_is_refused_before_writing(tmp_path: Path) -> None:
    """2 GiB are more than protobuf holds."""
    with pytest.raises(InputError, match="one ONNX file holds at most 2147483647"):
        modelfile.check_size(2**31, tmp_path / "m.onnx")


def test_a_reader_needs_no_onnx() -> None:
    """Reading a head, generating and verifying import neither onnx nor onnxruntime."""
    import subprocess
    import sys

    code = (
        "import sys, polybake.base.modelfile.container, polybake.generation, polybake.cli.main;"
        "import polybake.verification.verify;"
        "heavy = {'onnx', 'onnxruntime', 'onnxscript', 'tokenizers'} & set(sys.modules);"
        "sys.exit(str(heavy) if heavy else 0)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
