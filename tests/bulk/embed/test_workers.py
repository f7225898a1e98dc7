"""What a worker gets: a reference to the model, tables and files; and what it refuses."""

import json
import pickle
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnxruntime as ort
import pytest

import polybake
from polybake.base.modelfile.container import read_head
from polybake.bulk.embed.machine import Machine
from polybake.bulk.embed.model_file import ModelFile, OneCore
from polybake.errors import CheckFailed, InputError, RequirementMissing
from polybake.runtime.processors import processors
from polybake.runtime.prompt import Prompt
from polybake.runtime.runner import Runner

pa = pytest.importorskip("pyarrow")

from polybake.bulk.embed.column import Column  # noqa: E402
from polybake.bulk.embed.worker_files import Embedded, FileJob, finished, jobs  # noqa: E402

TEXTS = [letter * count for count in range(1, 11) for letter in ("a", "b c ", "", "d, e.")]

#: A column that claims to be UTF-8 and is not.
DAMAGED = pa.Array.from_buffers(
    pa.string(), 1, [None, pa.py_buffer(np.array([0, 1], np.int32)), pa.py_buffer(b"\xff")]
)


def test_threads_are_batches_side_by_side(every_feed: Path) -> None:
    """Each batch has one thread, so that vectors do not depend on the number of processors."""
    for threads in (None, 1, processors()):
        runner = Machine(threads=threads).open(every_feed).runner
        assert runner.at_once == (threads or processors())
        assert runner.session.get_session_options().intra_op_num_threads == 1


@pytest.mark.parametrize("threads", [0, -1, 10**6])
def test_threads_beyond_the_processors_are_refused(every_feed: Path, threads: int) -> None:
    with pytest.raises(InputError, match=f"--threads {threads}: expected 1 to {processors()}"):
        Machine(threads=threads).open(every_feed)


def test_another_device_is_not_replaced(every_feed: Path) -> None:
    """A device that is unknown or missing never falls back to the CPU."""
    with pytest.raises(InputError, match="unknown device 'tpu'; choose one of: cpu, cuda"):
        Machine("tpu").open(every_feed)
    if "CUDAExecutionProvider" not in ort.get_available_providers():
        with pytest.raises(RequirementMissing, match="CUDAExecutionProvider is not available"):
            Machine("cuda").open(every_feed)


def arrived(travelling: bytes) -> ModelFile:
    found = pickle.loads(travelling)  # noqa: S301 - made here
    assert isinstance(found, ModelFile)
    return found


def test_the_model_is_opened_once_in_a_process(every_feed: Path, tmp_path: Path) -> None:
    """The reference may arrive any number of times; the file is not read again."""
    model = Path(shutil.copy(every_feed, tmp_path / "model.onnx"))
    travelling = pickle.dumps(ModelFile.read(model, Prompt("query")))
    session = arrived(travelling).runner().session
    assert OneCore().open(model).runner.session is session
    assert session.get_session_options().intra_op_num_threads == 1
    model.unlink()
    found = arrived(travelling).runner()
    assert found.session is session
    assert found.contract.default_prompt == "query"


def test_a_worker_with_another_file_says_so(
    every_feed: Path, every_feed_default: Path, tmp_path: Path
) -> None:
    """Another file of that name is refused with both fingerprints, even if a right one was open."""
    model = Path(shutil.copy(every_feed, tmp_path / "model.onnx"))
    travelling = pickle.dumps(ModelFile.read(model, Prompt()))
    shutil.copy(every_feed_default, model)
    one, other = (read_head(path).manifest.fingerprint for path in (every_feed, every_feed_default))
    with pytest.raises(InputError, match=f"has the fingerprint {other} here, expected {one}"):
        arrived(travelling).runner()
    ModelFile.read(model, Prompt()).runner()
    shutil.copy(every_feed, model)
    arrived(travelling).runner()


def test_the_driver_refuses_a_wrong_model_or_prompt(every_feed: Path, tiny_rerank: Path) -> None:
    """It finds the mistake at once, instead of a worker hours later."""
    with pytest.raises(InputError, match="unknown prompt 'x'; choose one of: query, document"):
        ModelFile.read(every_feed, Prompt("x"))
    with pytest.raises(InputError, match="is made for the task 'rerank', expected 'embed'"):
        ModelFile.read(tiny_rerank, Prompt())


@pytest.mark.parametrize(
    ("prompt", "name"),
    [(Prompt(), "document"), (Prompt("query"), "query"), (Prompt(role="query"), "query")],
)
def test_each_row_of_a_table_has_its_vector(
    every_feed_default: Path, prompt: Prompt, name: str
) -> None:
    """The prompt asked for is used, and the column's record names the model."""
    table = pa.table({"text": TEXTS, "id": range(len(TEXTS))})
    found = Column(ModelFile.read(every_feed_default, prompt)).added_to(table)
    assert found.drop_columns("embedding") == table
    field = found.schema.field("embedding")
    assert field.type == pa.list_(pa.float32(), 7)
    record = json.loads(field.metadata[b"polybake.embed"])
    assert record["model"]["prompt"] == name
    assert record["model"]["fingerprint"] == read_head(every_feed_default).manifest.fingerprint
    assert record["texts"] == {"column": "text"}
    expected = polybake.Embedder(every_feed_default).embed(TEXTS, prompt=name)
    vectors = np.array(found["embedding"].to_pylist(), np.float32)
    assert vectors == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("rows", [[], pa.array([], pa.string())])
def test_no_rows_have_no_vectors(every_feed: Path, rows: object) -> None:
    """A table without rows gets the column, of the same type."""
    found = Column(ModelFile.read(every_feed, Prompt())).added_to(pa.table({"text": rows}))
    assert found.schema.field("embedding").type == pa.list_(pa.float32(), 7)
    assert found.num_rows == 0


@pytest.mark.parametrize(
    ("columns", "shown"),
    [
        ({"text": ["a", None]}, "'text' is null; expected a text"),
        ({"text": [1]}, "column 'text' holds 1, expected a text"),
        ({"body": ["a"]}, "has no column 'text'; choose one of: body"),
        ({"text": ["a"], "embedding": [1]}, "has a column 'embedding' already"),
        ({"text": DAMAGED}, "'text' is not valid Unicode"),
    ],
)
def test_a_wrong_table_is_refused(every_feed: Path, columns: dict[str, object], shown: str) -> None:
    with pytest.raises(InputError, match=shown):
        Column(ModelFile.read(every_feed, Prompt())).added_to(pa.table(columns))


def test_a_damaged_vector_is_no_result(every_feed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The text that it belongs to is named."""
    damaged = np.ones((2, 7), np.float32)
    damaged[1, 3] = np.nan
    monkeypatch.setattr(Runner, "embed", lambda *_: damaged)
    with pytest.raises(CheckFailed, match="the embedding of 'b' holds NaN or infinity; drop"):
        Column(ModelFile.read(every_feed, Prompt())).vectors(["a", "b"])


@pytest.fixture
def job(every_feed: Path, tmp_path: Path) -> FileJob:
    """A job of two texts."""
    (tmp_path / "texts.txt").write_text("one\ntwo\n")
    model = ModelFile.read(every_feed, Prompt())
    (made,) = jobs([tmp_path / "texts.txt"], tmp_path / "out", model, column="text", force=False)
    return made


def test_a_file_that_is_done_is_left_alone(job: FileJob) -> None:
    """A finished file is not written again, even with force."""
    assert job.run() == Embedded(job.texts, job.out, 2, skipped=False)
    written = job.out.stat().st_mtime_ns
    for again in (job, replace(job, force=True)):
        assert again.run() == Embedded(job.texts, job.out, 2, skipped=True)
    assert job.out.stat().st_mtime_ns == written


def test_other_vectors_are_refused_unless_they_may_be_replaced(
    job: FileJob, every_feed_default: Path
) -> None:
    """The message says what differs: the model, the prompt, the texts or the file itself."""
    other = replace(job.model, path=every_feed_default)
    assert f"expected {job.model.manifest.fingerprint}" in str(replace(job, model=other).run())
    assert not job.out.exists()
    job.run()
    queries = replace(job, model=replace(job.model, prompt=Prompt("query")))
    assert 'holds something else: model.prompt was null, and is "query"' in str(queries.run())
    job.texts.write_text("one\nthree\nfour\n")
    assert "holds something else: texts.sha256 was" in str(job.run())
    assert replace(job, force=True).run() == Embedded(job.texts, job.out, 3, skipped=False)
    job.out.write_bytes(b"mine")
    assert "holds something else: polybake did not write it" in str(job.run())
    assert job.out.read_bytes() == b"mine"


@pytest.mark.parametrize(
    ("names", "shown"),
    [
        (["texts.txt", "texts.csv"], r"texts.csv: goes to .*texts.parquet, as .*texts.txt"),
        ([], "there are no files of texts"),
        (["none.txt"], "no such file"),
    ],
)
def test_files_that_cannot_be_are_refused_at_once(
    job: FileJob, tmp_path: Path, names: list[str], shown: str
) -> None:
    """Two of one stem would write one file."""
    (tmp_path / "texts.csv").write_text("text\none\n")
    with pytest.raises(InputError, match=shown):
        jobs([tmp_path / name for name in names], tmp_path, job.model, column="text", force=False)


def test_all_errors_are_counted() -> None:
    done = Embedded(Path(), Path(), 1, skipped=False)
    with pytest.raises(InputError, match=r"^first \(and 1 more of 3 files\)$"):
        finished([InputError("first"), done, InputError("second")])
