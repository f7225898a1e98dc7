"""The container: written whole, read without an ONNX library, refused by name."""

from __future__ import annotations

import dataclasses
import json
import tempfile
from pathlib import Path

import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heads.write import cases, write
from polybake.base.modelfile.container import check_size, check_tail, read_head, tail_digest
from polybake.errors import CheckFailed, InputError


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
    assert all(prop.value.isascii() for prop in model.metadata_props)


def test_a_missing_file(tmp_path: Path) -> None:
    """A path that does not exist is named, with the remedy."""
    with pytest.raises(InputError, match=r"no\.onnx: cannot be read \(No such file or directory"):
        read_head(tmp_path / "no.onnx")


def test_a_fixture_of_another_format_is_named_when_it_is_read(every_feed: Path) -> None:
    """The file stays usable for readers that need no golden cases."""
    with pytest.raises(InputError, match=r"polybake\.fixture is damaged; bake the model again"):
        _ = dataclasses.replace(read_head(every_feed), fixture_json=b'{"format": 2}').fixture


def test_a_changed_graph_is_a_verdict(every_feed: Path, tmp_path: Path) -> None:
    """The head says nothing of it; the tail's digest does."""
    data = every_feed.read_bytes()
    (tmp_path / "m.onnx").write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    with pytest.raises(CheckFailed, match="the graph does not match its digest"):
        check_tail(read_head(tmp_path / "m.onnx"))


@given(st.binary(max_size=300))
def test_arbitrary_bytes_never_crash_the_reader(data: bytes) -> None:
    """The reader answers any bytes with an InputError."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.onnx"
        path.write_bytes(data)
        with pytest.raises(InputError):
            read_head(path)


def test_a_file_too_large_is_refused_before_writing(tmp_path: Path) -> None:
    """2 GiB are more than protobuf holds."""
    with pytest.raises(InputError, match="one ONNX file holds at most 2147483647"):
        check_size(2**31, tmp_path / "m.onnx")


HEADS = Path(__file__).parents[3] / "fixtures" / "heads"
CASES = json.loads((HEADS / "heads.json").read_text(encoding="ascii"))["heads"]


@pytest.mark.parametrize(
    "case", [case for case in CASES if case["readers"] == "all"], ids=lambda case: case["id"]
)
def test_the_core_says_what_every_reader_says(case: dict[str, str]) -> None:
    """The verdict and the words are those of every language, which share these files."""
    path = HEADS / f"{case['id']}.onnx"
    if case["message"] is None:
        assert read_head(path).manifest.name == "heads-of-files"
        return
    with pytest.raises(InputError) as caught:
        read_head(path)
    assert str(caught.value) == f"{path}: {case['message'].replace('FOLDER', str(HEADS))}"


def test_the_committed_files_are_fresh(tmp_path: Path) -> None:
    """The folder is what tools/heads writes, a file for each case."""
    ids = [case.id for case in cases()]
    assert len(ids) == len(set(ids)) >= 60
    write(tmp_path)
    found = {file.name: file.read_bytes() for file in HEADS.iterdir()}
    assert found == {file.name: file.read_bytes() for file in tmp_path.iterdir()}
