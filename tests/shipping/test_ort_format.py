"""ONNX Runtime's own format: the same vectors and metadata, judged by the golden cases."""

from pathlib import Path

import numpy as np
import onnxruntime as ort
import pytest

from polybake.base.modelfile.container import read_head
from polybake.base.modelfile.fixture import Case, decode_vectors
from polybake.errors import CheckFailed, InputError
from polybake.runtime.embedder import Embedder
from polybake.runtime.feeds import feeds
from polybake.shipping.export import ort_format
from polybake.shipping.export.golden_cases import reproduced
from polybake.shipping.export.ort_format import export_ort

MODELS = (
    *("every_feed", "every_feed_left", "every_feed_int8", "every_feed_bits", "every_feed_beside"),
    "tiny_tag",
)


@pytest.mark.parametrize("model", MODELS)
def test_the_vectors_and_the_metadata_stay(
    model: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Vectors of every dtype and task stay, and the runtime reads the manifest as metadata."""
    path = request.getfixturevalue(model)
    made = tmp_path / "model.ort"
    assert export_ort(path, made) <= 1e-5
    # Opened as a user does, with no option but the path.
    session = ort.InferenceSession(str(made), providers=["CPUExecutionProvider"])
    head = read_head(path)
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
    export_ort(tiny_rerank, tmp_path / "model.ort")
    made = (tmp_path / "model.ort").read_bytes()
    assert b"LayerNormalization" in made  # SkipLayerNormalization, of com.microsoft
    assert b"com.microsoft" in made


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
    with pytest.raises(CheckFailed, match="gives other vectors"):
        export_ort(every_feed, tmp_path / "model.ort")
    assert list(tmp_path.iterdir()) == []


def test_a_head_that_clients_read_is_onnxs(every_feed: Path, tmp_path: Path) -> None:
    """A .ort is for other programs."""
    export_ort(every_feed, tmp_path / "model.ort")
    with pytest.raises(InputError, match=r"model\.ort: has no polybake\.digest; write the file"):
        read_head(tmp_path / "model.ort")


def test_the_largest_difference_of_all_cases_counts(every_feed: Path) -> None:
    """Not that of the last one; one element beyond the tolerance fails by its case's name."""
    head = read_head(every_feed)
    last = head.fixture.cases[-1]

    def near(case: Case) -> np.ndarray:
        return decode_vectors(case.embeddings) + np.float32(0 if case is last else 4e-6)

    def moved(case: Case) -> np.ndarray:
        vectors = decode_vectors(case.embeddings)
        vectors[-1, -1] += 1e-3 if case.id == "query" else 0
        return vectors

    assert 3e-6 < reproduced(head, near) < 5e-6
    with pytest.raises(CheckFailed, match="case query gives other vectors: row 1, element 6"):
        reproduced(head, moved)
