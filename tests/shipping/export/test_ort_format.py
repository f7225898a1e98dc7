"""ONNX Runtime's own format: the same vectors and metadata, mapped instead of read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnxruntime as ort
import pytest

from polybake.base.modelfile.container import read_head
from polybake.errors import InputError
from polybake.runtime.embedder import Embedder
from polybake.runtime.feeds import feeds
from polybake.shipping.export import ort_format
from polybake.shipping.export.ort_format import export_ort
from support.processes.commandline import polybake


def opened(path: Path) -> ort.InferenceSession:
    """Open a file as a user does, with no option but the path."""
    return ort.InferenceSession(str(path), providers=["CPUExecutionProvider"])


@pytest.mark.parametrize(
    "model",
    [
        "every_feed",
        "every_feed_left",
        "every_feed_int8",
        "every_feed_bits",
        "every_feed_beside",
        "tiny_tag",
    ],
)
def test_the_vectors_and_the_metadata_stay(
    model: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Vectors of every dtype and task stay, and the runtime reads the manifest as metadata."""
    path = request.getfixturevalue(model)
    made = tmp_path / "model.ort"
    assert export_ort(path, made) <= 1e-5
    session, head = opened(made), read_head(path)
    contract = head.manifest.contract
    rows = head.fixture.cases[0].rows(contract.vocab_size)
    (found,) = session.run([contract.output.name], feeds(contract, rows, contract.default_prompt))
    np.testing.assert_allclose(found, Embedder(path).embed_ids(rows), atol=1e-6)
    metadata = session.get_modelmeta().custom_metadata_map
    assert metadata["polybake.tokenizer"] == head.tokenizer
    assert head.manifest.fingerprint in metadata["polybake.manifest"]
    assert made.read_bytes()[4:8] == b"ORTM"


def test_what_runs_is_the_fused_graph(tmp_path: Path, tiny_rerank: Path) -> None:
    """The format is not optimised when it is opened, so the graph must be fused before."""
    made = tmp_path / "model.ort"
    export_ort(tiny_rerank, made)
    assert b"LayerNormalization" in made.read_bytes()  # SkipLayerNormalization, of com.microsoft
    assert b"com.microsoft" in made.read_bytes()


def test_another_suffix_is_refused(every_feed: Path, tmp_path: Path) -> None:
    """ONNX Runtime would take the file for ONNX."""
    with pytest.raises(InputError, match=r"model\.bin: ONNX Runtime knows its format by .* \.ort"):
        export_ort(every_feed, tmp_path / "model.bin")


def test_nothing_is_written_where_the_vectors_differ(
    every_feed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, every_feed_left: Path
) -> None:
    """A runtime that optimises wrongly is found out before a file is there."""
    right = ort_format._write
    monkeypatch.setattr(ort_format, "_write", lambda _, made: right(every_feed_left, made))
    with pytest.raises(Exception, match="gives other vectors"):
        export_ort(every_feed, tmp_path / "model.ort")
    assert list(tmp_path.iterdir()) == []


def test_a_client_s_reader_says_what_it_is_not(every_feed: Path, tmp_path: Path) -> None:
    """The head that clients read is ONNX's: a .ort is for other programs."""
    export_ort(every_feed, tmp_path / "model.ort")
    printed = polybake("check", "model.ort", cwd=tmp_path, code=2)
    assert "model.ort: has no polybake.manifest; write the file with: polybake bake" in printed
