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
    """Embed each file in a task, like ``polybake embed``, into a Parquet file of the same stem.

    An interrupted call can be repeated: it leaves finished files alone, and uses the finished parts
    of an unfinished file. If an executor dies, another executor continues its file.

    Args:
        session: The session whose executors embed.
        files: Files of texts: ``.parquet``, ``.jsonl``, ``.csv`` or ``.txt``, at the same path on
            every node, like the folder and the model.
        folder: The folder for the vectors.
        model: A baked model file of the task ``embed``.
        column: The column of texts.
        prompt: Embed with this prompt; else the model's default.
        role: ``query`` or ``document``, in place of ``prompt``: embed with the model's prompt for
            these; without such a prompt with none, not even the default.
        force: Replace files that hold other vectors.

    Returns:
        The result for each file, in the order of ``files``.

    Raises:
        InputError: The model or the prompt is wrong, or a file is missing or of an unknown kind:
            nothing is embedded. Or a row or an existing output is wrong: all other files are
            embedded.
        CheckFailed: An embedding holds NaN or infinity; all other files are embedded.
    """
    wanted = jobs(
        files, folder, ModelFile.read(model, Prompt(prompt, role)), column=column, force=force
    )
    tasks = session.sparkContext.parallelize(wanted, len(wanted))
    return finished(tasks.map(FileJob.run).collect())
