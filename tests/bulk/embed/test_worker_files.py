"""Finished files are recognised, and impossible jobs are refused before any work is sent."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from polybake.bulk.embed.model_file import ModelFile
from polybake.bulk.embed.worker_files import Embedded, FileJob, finished, jobs
from polybake.errors import InputError
from polybake.runtime.prompt import Prompt

pytest.importorskip("pyarrow")


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


def test_other_vectors_are_refused_unless_they_may_be_replaced(job: FileJob) -> None:
    """The message says what differs: the prompt, the texts or the file itself."""
    job.run()
    queries = replace(job, model=replace(job.model, prompt=Prompt("query")))
    assert 'holds something else: model.prompt was null, and is "query"' in str(queries.run())
    job.texts.write_text("one\nthree\nfour\n")
    assert "holds something else: texts.sha256 was" in str(job.run())
    assert replace(job, force=True).run() == Embedded(job.texts, job.out, 3, skipped=False)
    job.out.write_bytes(b"mine")
    assert "holds something else: polybake did not write it" in str(job.run())
    assert job.out.read_bytes() == b"mine"


def test_a_worker_with_another_model_writes_nothing(job: FileJob, every_feed_default: Path) -> None:
    """The message names the fingerprints of both files."""
    other = replace(job.model, path=every_feed_default)
    found = replace(job, model=other).run()
    assert isinstance(found, InputError)
    assert f"expected {job.model.manifest.fingerprint}" in str(found)
    assert not job.out.exists()


def test_files_that_cannot_be_are_refused_at_once(job: FileJob, tmp_path: Path) -> None:
    """Two of one stem would write one file."""
    (tmp_path / "texts.csv").write_text("text\none\n")
    both = [job.texts, tmp_path / "texts.csv"]
    with pytest.raises(InputError, match=r"texts.csv: goes to .*texts.parquet, as .*texts.txt"):
        jobs(both, tmp_path, job.model, column="text", force=False)
    with pytest.raises(InputError, match="there are no files of texts"):
        jobs([], tmp_path, job.model, column="text", force=False)
    with pytest.raises(InputError, match="no such file"):
        jobs([tmp_path / "none.txt"], tmp_path, job.model, column="text", force=False)


def test_all_errors_are_counted() -> None:
    """The message counts the errors and shows the first one."""
    done = Embedded(Path(), Path(), 1, skipped=False)
    with pytest.raises(InputError, match=r"^first \(and 1 more of 3 files\)$"):
        finished([InputError("first"), done, InputError("second")])
