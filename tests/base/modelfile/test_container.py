"""The container: written whole, read without an ONNX library, with weights beside it."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import tempfile
from collections.abc import Callable
from pathlib import Path

import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from models.files.weights_beside import move_weights
from polybake.base.modelfile.container import check_digest, check_size, read_head, write
from polybake.base.modelfile.manifest import (
    Contract,
    Input,
    Output,
    checked_name,
    fingerprint,
)
from polybake.base.modelfile.weights import Weights, check_weights_name, weights_name
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
    ]
    assert all(prop.value.isascii() for prop in model.metadata_props)


def test_the_first_entry_says_where_the_others_lie(every_feed: Path) -> None:
    """It has one size in all files; its digest is of all that follows it."""
    data = every_feed.read_bytes()
    values = {prop.key: prop.value for prop in onnx.load(str(every_feed)).metadata_props}
    found = json.loads(data[23:279])
    assert json.loads(values["polybake.digest"]) == found
    assert found.pop("sha256") == hashlib.sha256(data[279:]).hexdigest()
    assert found.pop("length") == len(data) - 279
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
    with pytest.raises(InputError, match=r"polybake\.fixture is damaged; copy the file again"):
        _ = dataclasses.replace(read_head(every_feed), fixture_json=b'{"format": 2}').fixture


@pytest.mark.parametrize("place", [300, 5000, -1])
def test_a_changed_byte_is_a_verdict(every_feed: Path, tmp_path: Path, place: int) -> None:
    """Whatever it is of: the digest is of all that follows the first entry."""
    data = bytearray(every_feed.read_bytes())
    data[place] ^= 1
    (tmp_path / "m.onnx").write_bytes(data)
    with pytest.raises(
        CheckFailed, match=r"m\.onnx: does not match its digest; copy the file agai"
    ):
        check_digest(dataclasses.replace(read_head(every_feed), path=tmp_path / "m.onnx"))


def changed(data: bytes, **entries: object) -> bytes:
    """The bytes of a model file whose first entry says something else."""
    digest = json.dumps(json.loads(data[23:279]) | entries).encode("ascii")
    return data[:23] + digest.ljust(256) + data[279:]


DAMAGED: list[tuple[str, Callable[[bytes], bytes], str]] = [
    ("empty", lambda _: b"", r"has no polybake\.digest; write the file with: polybake bake"),
    ("another-file", lambda data: data[279:], r"has no polybake\.digest; write the file with"),
    ("cut", lambda data: data[:-1], r"has \d+ bytes, expected \d+; copy the file again"),
    (
        "cut-in-the-head",
        lambda data: data[:400],
        r"has 400 bytes, expected \d+; copy the file again",
    ),
    ("byte-behind", lambda data: data + b"\0", r"has \d+ bytes, expected \d+; copy the file again"),
    ("no-json", lambda data: data[:23] + b"x" + data[24:], r"polybake\.digest is damaged"),
    ("place-below-0", lambda data: changed(data, manifest=[-1, 5]), r"polybake\.digest is damaged"),
    (
        "place-beyond",
        lambda data: changed(data, fixture=[279, 2**62]),
        r"polybake\.fixture is damage",
    ),
    (
        "not-ascii",
        lambda data: changed(data, tokenizer=[0, 279]),
        r"polybake\.tokenizer is damaged",
    ),
    (
        "other-place",
        lambda data: changed(data, manifest=[279, 64]),
        r"polybake\.manifest is damaged",
    ),
    (
        "older",
        lambda data: data.replace(b'{"format":2,"name', b'{"format":1,"name'),
        "1 is older tha",
    ),
    (
        "newer",
        lambda data: data.replace(b'{"format":2,"name', b'{"format":9,"name'),
        "9 is newer tha",
    ),
]


@pytest.mark.parametrize(
    ("damage", "message"), [row[1:] for row in DAMAGED], ids=[row[0] for row in DAMAGED]
)
def test_a_damaged_file_is_named(
    every_feed: Path, tmp_path: Path, damage: Callable[[bytes], bytes], message: str
) -> None:
    """What is wrong with it, and what to do."""
    (tmp_path / "m.onnx").write_bytes(damage(every_feed.read_bytes()))
    with pytest.raises(InputError, match=message):
        read_head(tmp_path / "m.onnx")


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


@pytest.fixture
def beside(every_feed: Path, tmp_path: Path) -> Path:
    """A model file whose weights lie in a file of their own, written by the tests."""
    return move_weights(every_feed, tmp_path / "m.onnx")


def test_the_format_that_was_written_by_hand(beside: Path, every_feed: Path) -> None:
    """Digests and the fingerprint are what the reader computes, and every part is as it was."""
    head, whole = read_head(beside), read_head(every_feed)
    weights = head.manifest.weights
    assert weights is not None
    assert head.weights_path == beside.with_name(f"m-{weights.sha256[:16]}.weights")
    assert head.manifest.fingerprint == fingerprint(
        head.graph_digest, head.tokenizer_digest, head.manifest.contract, weights.sha256
    )
    assert head.manifest.contract == whole.manifest.contract
    assert head.fixture.cases == whole.fixture.cases
    assert whole.weights_path is None
    check_digest(head)


def test_the_vectors_are_the_same(beside: Path, every_feed: Path) -> None:
    """ONNX Runtime takes the weights from the file beside the graph, wherever the process is."""
    texts = ["Hello, world", "", "river bank"]
    assert (Embedder(beside).embed(texts) == Embedder(every_feed).embed(texts)).all()
    assert Embedder(beside).self_check() < 1e-6


def test_a_changed_payload_is_a_verdict(beside: Path) -> None:
    """A byte that changed is found by who hashes, and by nobody else."""
    (weights,) = beside.parent.glob("*.weights")
    data = weights.read_bytes()
    weights.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    head, embedder = read_head(beside), Embedder(beside)
    message = f"{beside}: {weights} does not match its digest; copy it again"
    for check in (lambda: check_digest(head), embedder.self_check):
        with pytest.raises(CheckFailed) as caught:
            check()
        assert str(caught.value) == message


def test_weights_that_are_missing_or_cut(beside: Path) -> None:
    """The message names the file, and what it is for."""
    (weights,) = beside.parent.glob("*.weights")
    whole = weights.read_bytes()
    weights.write_bytes(whole[:-1])
    with pytest.raises(InputError, match=r"\.weights has \d+ bytes, expected \d+; copy it again"):
        read_head(beside)
    weights.unlink()
    with pytest.raises(InputError, match="it holds the model's weights, put it beside the model"):
        read_head(beside)


def test_names_of_any_system() -> None:
    """A name is the same in every system, stays in the folder, and says what the file holds."""
    digest = "0" * 64
    weights = Weights(file=f"m-{digest[:16]}.weights", length=8192, sha256=digest)
    assert weights.file == weights_name("m", digest)
    for stem in ("m ", "C:m", "m" * 250, "../m", "a/m", ".m"):
        with pytest.raises(ValidationError):
            Weights(file=weights_name(stem, digest), length=8192, sha256=digest)
        with pytest.raises(InputError, match="choose an --output of ASCII letters"):
            check_weights_name(Path(f"{stem.replace('/', '')} .onnx"))
    with pytest.raises(ValidationError, match="is not named by its content"):
        Weights(file="m-0000000000000001.weights", length=8192, sha256=digest)


def test_what_is_written_is_read(every_feed: Path, beside: Path, tmp_path: Path) -> None:
    """`write` puts the weights beside the file, and the same bytes into it."""
    head = read_head(beside)
    assert head.weights_path is not None
    tail = tmp_path / "tail"
    tail.write_bytes(beside.read_bytes()[head.tail_offset :])
    out = tmp_path / "out"
    write(out / "m.onnx", tail, head.manifest, head.tokenizer, head.fixture)
    assert read_head(out / "m.onnx").weights_path == out / head.weights_path.name
    check_digest(read_head(out / "m.onnx"))
    assert (out / "m.onnx").read_bytes() == beside.read_bytes()
    assert b'"weights"' not in every_feed.read_bytes()[: read_head(every_feed).tail_offset]
