"""A model repository that Triton's own schema takes, and that its own server runs."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from google.protobuf.text_encoding import CUnescape

from models.files.every_feed import PROMPTS
from models.files.task_models import write_classifier
from polybake.base.modelfile.container import read_head
from polybake.base.modelfile.fixture import Case, decode_vectors
from polybake.errors import CheckFailed, InputError
from polybake.runtime.embedder import Embedder
from polybake.shipping import triton as exporting
from polybake.shipping.triton import export_triton, reproduced, text_literal
from support.servers.triton import triton

TEXTS = ["Hello, world", "", "two words ü 🙂"]


@pytest.fixture(scope="module")
def classifier(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_classifier(tmp_path_factory.mktemp("a model") / "moods.onnx")


@pytest.fixture(scope="module")
def repository(every_feed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The model repository of a file that takes every feed, a prompt's number among them."""
    folder = tmp_path_factory.mktemp("every") / "models"
    export_triton(every_feed, folder)
    return folder


def parsed(config: Path) -> Any:
    """A configuration as Triton's own schema reads it."""
    schema = pytest.importorskip(
        "tritonclient.grpc.model_config_pb2", reason="tritonclient[grpc] is not installed"
    )
    from google.protobuf import text_format

    return text_format.Parse(config.read_text("ascii"), schema.ModelConfig())


def test_the_file_travels_unchanged(
    every_feed: Path, every_feed_beside: Path, repository: Path, tmp_path: Path
) -> None:
    """With its weights, under the name that the graph has for them, and its tokenizer."""
    names = {path.name for path in repository.iterdir()}
    assert names == {"every-feed", "every-feed_encoder", "every-feed_tokenize"}
    graph = repository / "every-feed_encoder/1/model.onnx"
    assert graph.read_bytes() == every_feed.read_bytes()
    tokenizer = repository / "every-feed_tokenize/1/tokenizer.json"
    assert tokenizer.read_text() == read_head(every_feed).tokenizer
    assert export_triton(every_feed_beside, tmp_path / "models") <= 1e-5
    (copied,) = (tmp_path / "models").rglob("*.weights")
    assert (copied.parent / "model.onnx").exists()
    weights = read_head(every_feed_beside).weights_path
    assert weights is not None
    assert (copied.name, copied.read_bytes()) == (weights.name, weights.read_bytes())


@pytest.mark.parametrize(
    ("value", "text"),
    [("plain", '"plain"'), ('a"b\\c\n', '"a\\042b\\134c\\012"'), ("ü", '"\\303\\274"')],
)
def test_a_name_stays_inside_its_quotes(value: str, text: str) -> None:
    """Any name of an input is one string, whatever it contains."""
    assert text_literal(value) == text
    assert CUnescape(text[1:-1]).decode() == value


def test_tritons_schema_takes_every_configuration(every_feed: Path, repository: Path) -> None:
    """Names, dtypes and dims are the graph's, and each model takes what the one before it gives."""
    ensemble = parsed(repository / "every-feed/config.pbtxt")
    tokenize = parsed(repository / "every-feed_tokenize/config.pbtxt")
    encoder = parsed(repository / "every-feed_encoder/config.pbtxt")
    assert encoder.platform == "onnxruntime_onnx"
    assert {one.name: list(one.dims) for one in encoder.input} == {
        **{name: [-1, -1] for name in ("ids", "mask", "types", "positions")},
        **{name: [1] for name in ("prompt", "route")},
    }
    assert [(one.name, list(one.dims)) for one in encoder.output] == [("vector", [-1, 7])]
    assert encoder.max_batch_size == 0  # the prompt's number has no place in a batch
    fingerprint = read_head(every_feed).manifest.fingerprint
    assert encoder.parameters["polybake.fingerprint"].string_value == fingerprint
    assert [(one.name, one.optional) for one in ensemble.input] == [
        ("TEXT", False),
        ("PROMPT", True),
    ]
    first, second = ensemble.ensemble_scheduling.step
    assert (first.model_name, second.model_name) == (tokenize.name, encoder.name)
    assert set(first.output_map) == {one.name for one in tokenize.output} == set(second.input_map)
    assert set(first.output_map.values()) == set(second.input_map.values())


def test_batches_are_tritons_where_every_input_has_them(classifier: Path, tmp_path: Path) -> None:
    """Dims are those of one row, and labels serve Triton's classification."""
    export_triton(classifier, tmp_path / "models")
    (folder,) = (tmp_path / "models").glob("*_encoder")
    encoder = parsed(folder / "config.pbtxt")
    assert encoder.max_batch_size == 64
    assert encoder.HasField("dynamic_batching")
    assert {tuple(one.dims) for one in encoder.input} == {(-1,)}
    labels = read_head(classifier).manifest.contract.settings["labels"]
    assert list(encoder.output[0].dims) == [len(labels)]
    assert (folder / encoder.output[0].label_filename).read_text("utf-8").splitlines() == labels


def test_a_folder_that_is_there_is_kept(every_feed: Path, repository: Path) -> None:
    """A server may be running from it."""
    with pytest.raises(InputError, match="models: exists already; remove it"):
        export_triton(every_feed, repository)


@pytest.mark.parametrize("model", ["tiny_rerank", "tiny_tag", "tiny_sparse", "tiny_multi_vector"])
def test_another_task_is_refused(
    model: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """The message names the tasks that Triton runs and what else to use; nothing is written."""
    with pytest.raises(InputError, match=r"Triton runs whole: embed, classify; use polybake serve"):
        export_triton(request.getfixturevalue(model), tmp_path / "models")
    assert list(tmp_path.iterdir()) == []


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


def test_tokenising_that_pads_wrongly_is_not_written(
    every_feed_left: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The code in the repository itself is run and judged."""
    templates = tmp_path / "templates"
    shutil.copytree(exporting._templates(), templates)
    rows = templates / "text_rows.py"
    rows.write_text(rows.read_text().replace('["pad_side"] == "left"', '["pad_side"] == "no"'))
    monkeypatch.setattr(exporting, "_templates", lambda: templates)
    with pytest.raises(CheckFailed, match="gives other vectors"):
        export_triton(every_feed_left, tmp_path / "models")
    assert not (tmp_path / "models").exists()


def bytes_input(name: str, values: list[str], shape: list[int]) -> dict[str, Any]:
    return {"name": name, "datatype": "BYTES", "shape": shape, "data": values}


def vectors(answer: dict[str, Any]) -> np.ndarray:
    (output,) = answer["outputs"]
    return np.array(output["data"], np.float32).reshape(output["shape"])


def test_tritons_server_gives_the_vectors(
    every_feed: Path, repository: Path, tmp_path: Path
) -> None:
    """The real server runs ensemble, prompts and errors; Python and ONNX Runtime run the graph."""
    embedder = Embedder(every_feed)
    with triton(repository, tmp_path) as server:
        text = bytes_input("TEXT", TEXTS, [3])
        for prompt in (None, *PROMPTS):
            given = [bytes_input("PROMPT", [prompt], [1])] if prompt else []
            found = vectors(server.infer("every-feed", inputs=[text, *given]))
            np.testing.assert_allclose(found, embedder.embed(TEXTS, prompt=prompt), atol=1e-5)
        unknown = server.infer("every-feed", inputs=[text, bytes_input("PROMPT", ["no"], [1])])
        assert "unknown prompt 'no'; the model has: query, document" in unknown["error"]
        both = bytes_input("PROMPT", ["query", "document"], [2])
        several = server.infer("every-feed", inputs=[text, both])
        assert "several prompts: ['document', 'query']; a request has one" in several["error"]


def test_tritons_server_gives_labels(classifier: Path, tmp_path: Path) -> None:
    """The server gives scores in batches, and labels by its classification extension."""
    (tmp_path / "work").mkdir()
    export_triton(classifier, tmp_path / "models")
    name = read_head(classifier).manifest.name
    with triton(tmp_path / "models", tmp_path / "work") as server:
        inputs = [bytes_input("TEXT", TEXTS, [3, 1])]
        found = vectors(server.infer(name, inputs=inputs))
        expected = Embedder(classifier).embed(TEXTS)
        np.testing.assert_allclose(found, expected, atol=1e-5)
        asked = [{"name": "scores", "parameters": {"classification": 1}}]
        (best,) = server.infer(name, inputs=inputs, outputs=asked)["outputs"]
        labels = read_head(classifier).manifest.contract.settings["labels"]
        assert [line.split(":")[2] for line in best["data"]] == [
            labels[place] for place in expected.argmax(axis=1)
        ]
