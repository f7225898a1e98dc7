"""Embed with Spark: ``polybake.spark.embed(frame, "m.onnx", column="text")``."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal

from polybake.errors import InputError, missing_package

try:
    import pandas as pd
    from pyspark import SparkFiles
    from pyspark.errors import PySparkRuntimeError
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.functions import pandas_udf
    from pyspark.sql.types import ArrayType, ByteType, FloatType, ShortType

    from polybake.bulk.embed.column import Column
    from polybake.bulk.embed.model_file import ModelFile
    from polybake.bulk.embed.worker_files import Embedded, FileJob, finished, jobs
except ModuleNotFoundError as error:
    raise missing_package(error) or error from error

from polybake.base.modelfile.container import read_head
from polybake.bulk.embed.outputs.output import COLUMN
from polybake.runtime.prompt import Prompt

__all__ = ["embed", "embed_files"]

#: Spark has no unsigned integers.
_TYPES = {"float32": FloatType, "int8": ByteType, "uint8": ShortType}


def embed(
    frame: DataFrame,
    model: str | os.PathLike[str],
    *,
    column: str = "text",
    prompt: str | None = None,
    role: Literal["query", "document"] | None = None,
) -> DataFrame:
    """Return the frame with a further column ``embedding``, of arrays.

    Only the texts and the vectors pass between Spark and Python, in batches of Arrow. So the other
    columns and the order of a partition's rows stay as they are. Each Python worker opens the model
    once, on one thread.

    Args:
        frame: A frame with a column of texts.
        model: A baked model file of the task ``embed``. Only the driver needs it: it is sent to the
            executors, with its weights where they lie beside it.
        column: The column of texts.
        prompt: Embed with this prompt; else the model's default.
        role: ``query`` or ``document``, in place of ``prompt``: embed with the model's prompt for
            these; without such a prompt with none, not even the default.

    Raises:
        InputError: The frame, the file or the prompt is not what was expected. For a wrong row or a
            wrong file of a worker, Spark raises an exception with the message.
    """
    input_column = Column(ModelFile.read(model, Prompt(prompt, role)), column)
    input_column.check(frame.columns)
    path = input_column.model.path
    weights = read_head(path).weights_path
    try:
        for file in [path] if weights is None else [path, weights]:
            frame.sparkSession.addArtifacts(str(file), file=True)
    except PySparkRuntimeError as error:
        raise InputError(
            f"{file}: this session has sent another file of this name already; give the model file "
            "another name, or start a new session"
        ) from error

    def vectors(batches: Iterator[pd.Series]) -> Iterator[pd.Series]:
        here = Path(SparkFiles.get(path.name))
        for texts in batches:
            yield pd.Series([*input_column.vectors([*texts], here)])

    elements = _TYPES[input_column.model.manifest.contract.output.dtype]()
    udf = pandas_udf(vectors, returnType=ArrayType(elements, containsNull=False))
    result = frame.withColumn(COLUMN, udf(frame[column]))
    return result.withMetadata(COLUMN, input_column.metadata)


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
    file_jobs = jobs(
        files, folder, ModelFile.read(model, Prompt(prompt, role)), column=column, force=force
    )
    tasks = session.sparkContext.parallelize(file_jobs, len(file_jobs))
    return finished(tasks.map(FileJob.run).collect())
