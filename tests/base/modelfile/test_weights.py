"""Weights beside a model file: they belong together, and both are whole."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from pydantic import ValidationError

from models.files.weights_beside import move_weights
from polybake.base.modelfile.container import check_tail, read_head, write
from polybake.base.modelfile.manifest import fingerprint
from polybake.base.modelfile.weights import Weights
from polybake.errors import CheckFailed
from polybake.runtime.embedder import Embedder


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
