"""A frame has a vector for each row, and files become files of vectors."""

from __future__ import annotations

import json
import os
import shutil
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import polybake
from polybake.base.modelfile.container import read_head
from polybake.bulk.embed.model_file import ModelFile
from polybake.errors import InputError
from polybake.runtime.prompt import Prompt

pytest.importorskip("pyspark", reason="Spark is missing: run nox -s bulk")

from polybake.spark import embed, embed_files
from support.bulk import clusters
from support.bulk.clusters import TEXTS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.slow

EXECUTOR = b"org.apache.spark.executor.CoarseGrainedExecutorBackend"


def test_each_row_has_its_vector(
    spark: SparkSession, every_feed_default: Path, tmp_path: Path
) -> None:
    """Rows keep their order, the role's prompt is used, and files name the model."""
    frame = spark.createDataFrame([*enumerate(TEXTS)], ["id", "text"])
    embedded = embed(frame, every_feed_default, role="query")
    rows = embedded.collect()
    assert [(row.id, row.text) for row in rows] == [*enumerate(TEXTS)]
    expected = polybake.Embedder(every_feed_default).embed(TEXTS, prompt="query")
    assert np.array([row.embedding for row in rows]) == pytest.approx(expected, abs=1e-6)
    embedded.write.parquet(str(tmp_path / "out"))
    metadata = spark.read.parquet(str(tmp_path / "out")).schema["embedding"].metadata
    record = json.loads(metadata["polybake.embed"])
    assert record["model"]["prompt"] == "query"
    assert record["model"]["fingerprint"] == read_head(every_feed_default).manifest.fingerprint


@pytest.mark.parametrize("model", ["every_feed_int8", "every_feed_bits", "every_feed_beside"])
def test_integers_and_weights_beside_the_graph(
    spark: SparkSession, model: str, request: pytest.FixtureRequest
) -> None:
    """Integers keep their values, also those of uint8, a type that Spark lacks.

    An executor finds both files of a model in its folder.
    """
    path = request.getfixturevalue(model)
    rows = embed(spark.createDataFrame([(text,) for text in TEXTS], ["text"]), path).collect()
    found, expected = [row.embedding for row in rows], polybake.Embedder(path).embed(TEXTS)
    if model == "every_feed_beside":
        assert np.array(found) == pytest.approx(expected, abs=1e-6)
    else:
        assert found == expected.tolist()


def test_a_wrong_frame_is_refused(spark: SparkSession, every_feed: Path) -> None:
    """Wrong columns are refused at once, and a wrong value by the worker that meets it."""
    frame = spark.createDataFrame([(1, "a", None)], "id int, embedding string, text string")
    with pytest.raises(InputError, match="has a column 'embedding' already"):
        embed(frame, every_feed)
    frame = frame.drop("embedding")
    with pytest.raises(InputError, match="has no column 'body'; choose one of: id, text"):
        embed(frame, every_feed, column="body")
    assert "'text' is null; expected a text" in failure(embed(frame, every_feed))


def test_a_model_that_replaces_another_needs_a_name_of_its_own(
    spark: SparkSession,
    every_feed: Path,
    every_feed_default: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """Spark sends a file once under its name; executors would go on with the old one."""
    # Executors that come later want the file, too.
    model = Path(shutil.copy(every_feed, tmp_path_factory.mktemp("sent") / "replaced.onnx"))
    frame = spark.createDataFrame([("a",)], ["text"])
    embed(frame, model)
    embed(frame, model)
    shutil.copy(every_feed_default, model)
    with pytest.raises(InputError, match=r"replaced.onnx: this session has sent another file"):
        embed(frame, model)


def test_an_executor_with_another_file_says_so(
    spark: SparkSession, every_feed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message holds both fingerprints. In this test the driver's is the wrong one."""
    found = ModelFile.read(every_feed, Prompt())
    mistaken = replace(found, manifest=found.manifest.model_copy(update={"fingerprint": "0a1b"}))
    monkeypatch.setattr(ModelFile, "read", lambda *_: mistaken)
    embedded = embed(spark.createDataFrame([("a",)], ["text"]), every_feed)
    expected = f"has the fingerprint {found.manifest.fingerprint} here, expected 0a1b"
    assert expected in failure(embedded)


def failure(frame: Any) -> str:
    """What Spark says of a frame that cannot be computed."""
    from pyspark.errors import PythonException

    with pytest.raises(PythonException) as raised:
        frame.collect()
    return str(raised.value)


def test_no_row_is_lost_when_an_executor_is_killed(spark: SparkSession, every_feed: Path) -> None:
    """Every row occurs exactly once."""
    texts = [f"{row % 997}" for row in range(4_000)]
    frame = spark.createDataFrame([*enumerate(texts)], ["id", "text"]).repartition(8)
    embedded = embed(frame, every_feed)
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(embedded.collect)
        kill_an_executor(spark)
        rows = sorted(running.result(), key=lambda row: row.id)
    assert [(row.id, row.text) for row in rows] == [*enumerate(texts)]
    expected = polybake.Embedder(every_feed).embed(texts)
    assert np.array([row.embedding for row in rows]) == pytest.approx(expected, abs=1e-6)


def kill_an_executor(spark: SparkSession) -> None:
    """Kill an executor while some tasks of a stage are done and others are not."""
    tracker = spark.sparkContext.statusTracker()
    for _ in range(12_000):
        stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
        if any(stage and 0 < stage.numCompletedTasks < stage.numTasks for stage in stages):
            break
        time.sleep(0.01)
    else:
        raise AssertionError("no stage was in its middle")
    application = spark.sparkContext.applicationId
    for process in Path("/proc").glob("[0-9]*"):
        words: list[bytes] = []
        with suppress(OSError):  # it has ended
            words = (process / "cmdline").read_bytes().split(b"\0")
        if EXECUTOR in words and application.encode() in words:
            os.kill(int(process.name), signal.SIGKILL)
            return
    raise AssertionError("no executor was at work")


def test_what_a_killed_worker_began_another_ends(
    spark: SparkSession, every_feed: Path, tmp_path: Path
) -> None:
    there = partial(embed_files, spark)
    clusters.what_a_killed_worker_began_another_ends(there, every_feed, tmp_path)


def test_an_error_of_one_file_is_no_error_of_the_others(
    spark: SparkSession, every_feed: Path, tmp_path: Path
) -> None:
    there = partial(embed_files, spark)
    clusters.an_error_of_one_file_is_no_error_of_the_others(there, every_feed, tmp_path)


@pytest.mark.parametrize("code", clusters.programs("polybake.spark"))
def test_a_program_of_the_page_runs(
    code: str, spark: SparkSession, every_feed: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Each program runs in an existing session, as in a notebook, with its folder replaced."""
    # Executors that start later need the file, too, so its folder stays for the session.
    clusters.run(code, every_feed, tmp_path_factory.mktemp("page"), spark=spark)
