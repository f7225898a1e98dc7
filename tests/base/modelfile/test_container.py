"""The container: written whole, read without an ONNX library, with weights beside it."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import tempfile
from pathlib import Path

import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from heads.write import cases
from heads.write import write as write_heads
from models.files.weights_beside import move_weights
from polybake.base.modelfile.container import check_size, check_tail, read_head, write
from polybake.base.modelfile.manifest import (
    Contract,
    Input,
    Output,
    checked_name,
    fingerprint,
)
from polybake.base.modelfile.weights import Weights
from polybake.errors import CheckFailed, InputError
from polybake.runtime.embedder import Embedder


def contract(**changes: object) -> Contract:
    fields: dict[str, object] = {
        "inputs": (Input(name="input_ids", feed="input_ids"),),
        "output": Output(name="sentence_embedding", dimension=3),
        "vocab_size": 5,
        "max_length": 8,
        "pad_id": 0,
    }
    return Contract.model_validate(fields | changes)


@pytest.mark.parametrize("name", ["", "A", "1a", "a--b", "a-", "-a", "a_b", "a b", "é", "a" * 51])
def test_names_that_no_language_can_use(name: str) -> None:
    """They are refused with what was expected; others are taken as they are."""
    for good in ("a", "all-minilm-l6-v2", "e5", "a" * 50):
        assert checked_name(good) == good
    with pytest.raises(ValueError, match="cannot become a package name; expected at most 50"):
        checked_name(name)


def test_the_canonical_contract_is_sorted_ascii_json() -> None:
    """Keys are sorted, white space is gone, other scripts are escaped."""
    text = contract(prompts={"b": "é", "a": ""}).canonical()
    assert '"prompts":{"a":"","b":"\\u00e9"}' in text
    assert text.startswith('{"default_prompt":null,"inputs":[{"dtype":"int64","feed":')


def test_the_fingerprint_covers_graph_tokenizer_and_contract() -> None:
    """Any change to a vector, or to what the graph is fed, is another fingerprint."""
    changes = ({}, {"max_length": 9}, {"pad_id": 1}, {"pad_side": "left"}, {"prompts": {"q": "q "}})
    found = {fingerprint("t", "k", contract(**change)) for change in changes}
    found |= {fingerprint(*pair, contract()) for pair in [("u", "k"), ("t", "l")]}
    assert len(found) == len(changes) + 2


def test_the_file_is_valid_onnx(every_feed: Path) -> None:
    """Onnx loads the file, finds the entries in order, and its checker passes."""
    model = onnx.load(str(every_feed))
    onnx.checker.check_model(model, full_check=True)
    assert [prop.key for prop in model.metadata_props] == [
        "polybake.digest",
        "polybake.contract",
        "polybake.manifest",
        "polybake.tokenizer",
        "polybake.fixture",
        "polybake.digests",
    ]
    assert all(prop.value.isascii() for prop in model.metadata_props)


def test_the_first_entry_says_where_the_others_lie(every_feed: Path) -> None:
    """It has one size in all files; its digest is of all that follows it."""
    data = every_feed.read_bytes()
    values = {prop.key: prop.value for prop in onnx.load(str(every_feed)).metadata_props}
    found = json.loads(data[23:279])
    assert json.loads(values["polybake.digest"]) == found
    assert found.pop("sha256") == hashlib.sha256(data[279:]).hexdigest()
    assert [*found] == ["contract", "manifest", "tokenizer", "fixture"]
    for key, (place, length) in found.items():
        assert data[place : place + length].decode("ascii") == values[f"polybake.{key}"]
    canonical = read_head(every_feed).manifest.contract.canonical()
    assert values["polybake.contract"] == hashlib.sha256(canonical.encode()).hexdigest()


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
    write_heads(tmp_path)
    found = {file.name: file.read_bytes() for file in HEADS.iterdir()}
    assert found == {file.name: file.read_bytes() for file in tmp_path.iterdir()}


@pytest.fixture
def beside(every_feed: Path, tmp_path: Path) -> Path:
    """A model file whose weights lie in a file of their own, written by the tests."""
    return move_weights(every_feed, tmp_path / "m.onnx")


def test_the_format_that_was_written_by_hand(beside: Path, every_feed: Path) -> None:
    """Digests and the fingerprint are what the reader computes, and every part is as it was."""
    head, whole = read_head(beside), read_head(every_feed)
    weights = head.digests.weights
    assert weights is not None
    assert head.weights_path == beside.with_name("m.weights")
    assert head.weights_path.read_bytes().startswith(weights.heading)
    assert head.manifest.weights_beside
    assert head.manifest.fingerprint == fingerprint(
        head.digests.tail, head.digests.tokenizer, head.manifest.contract, weights.sha256
    )
    assert head.manifest.contract == whole.manifest.contract
    assert head.fixture.cases == whole.fixture.cases
    assert whole.weights_path is None
    check_tail(head)


def test_the_vectors_are_the_same(beside: Path, every_feed: Path) -> None:
    """ONNX Runtime takes the weights from the file beside the graph, wherever the process is."""
    texts = ["Hello, world", "", "river bank"]
    assert (Embedder(beside).embed(texts) == Embedder(every_feed).embed(texts)).all()
    assert Embedder(beside).self_check() < 1e-6


def test_a_changed_payload_is_a_verdict(beside: Path) -> None:
    """A byte that changed is found by who hashes, and by nobody else."""
    weights = beside.with_suffix(".weights")
    data = weights.read_bytes()
    weights.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    head, embedder = read_head(beside), Embedder(beside)
    message = f"{beside}: {weights} does not match its digest; copy it again"
    for check in (lambda: check_tail(head), embedder.self_check):
        with pytest.raises(CheckFailed) as caught:
            check()
        assert str(caught.value) == message


def test_names_of_any_system() -> None:
    """No name differs between systems; fixtures/heads have those that lead out of the folder."""
    Weights(file="m" * 247 + ".weights", length=8192, sha256="0" * 64)
    for file in ("m .weights", "C:m.weights", "m" * 248 + ".weights"):
        with pytest.raises(ValidationError):
            Weights(file=file, length=8192, sha256="0" * 64)


def test_what_is_written_is_read(every_feed: Path, beside: Path, tmp_path: Path) -> None:
    """`write` puts the weights into the digests, and leaves the key out where there are none."""
    head = read_head(beside)
    tail = tmp_path / "tail"
    tail.write_bytes(beside.read_bytes()[head.tail_offset :])
    parts = (tail, head.digests.tail, head.manifest, head.tokenizer, head.fixture)
    write(tmp_path / "again.onnx", *parts, head.digests.weights)
    again = read_head(tmp_path / "again.onnx")
    assert again.digests.weights == head.digests.weights
    assert dataclasses.replace(again, path=beside).weights_path == head.weights_path
    assert b'"weights"' not in every_feed.read_bytes()[: read_head(every_feed).tail_offset]
