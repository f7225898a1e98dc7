"""Files of texts, embedded by the executors of a Spark cluster."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Literal

from pyspark.sql import SparkSession

from polybake.bulk.embed.model_file import ModelFile
from polybake.bulk.embed.worker_files import Embedded, FileJob, finished, jobs
from polybake.runtime.prompt import Prompt


def embed_files(
    session: SparkSession,
    files: Iterable[str | os.PathLike[str]],
    folder: str | os.PathLike[str],
    model: str | os.PathLike[str],
    *,
    column: str = "text",
    prompt: str | None = None,
    role: Literal["query", "document"] | None = None,
    force: bool = False,
) -> list[Embedded]:
    """Embed each file into a Parquet file of the same stem, as ``polybake embed`` does, in a task.

    A call that is interrupted goes on where it was: files that are done are left alone, and of one
    that was begun the finished parts are used. What an executor that dies had begun, another goes
    on with.

    Args:
        session: Whose executors embed.
        files: Of texts: ``.parquet``, ``.jsonl``, ``.csv`` or ``.txt``, at the same path on every
            node, as the folder and the model are.
        folder: Where the vectors go.
        model: A baked model file of the task ``embed``.
        column: The column of texts.
        prompt: Embed with this prompt; else the model's default.
        role: What the texts are, which chooses the model's prompt for them.
        force: Replace files that hold other vectors.

    Returns:
        What became of each file, in the order given.

    Raises:
        InputError: a file, a row, the model or the prompt is not what was expected. The other
            files are embedded all the same.
        CheckFailed: an embedding holds NaN or infinity.
    """
    wanted = jobs(
        files, folder, ModelFile.read(model, Prompt(prompt, role)), column=column, force=force
    )
    tasks = session.sparkContext.parallelize(wanted, len(wanted))
    return finished(tasks.map(FileJob.run).collect())
