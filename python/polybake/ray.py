"""Embed with Ray: ``ds.map_batches(polybake.ray.Embed("m.onnx", column="text"))``."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any, Literal

from polybake.errors import InputError, missing_package

try:
    import pyarrow
    import ray
    from ray.data.block import BlockAccessor

    from polybake.bulk.embed.column import Column
    from polybake.bulk.embed.model_file import ModelFile, check_fingerprint
    from polybake.bulk.embed.worker_files import Embedded, FileJob, finished, jobs
except ModuleNotFoundError as error:
    raise missing_package(error) or error from error

from polybake.runtime.prompt import Prompt

__all__ = ["Embed", "embed_files"]


class Embed:
    """A callable for ``map_batches`` that adds a column ``embedding`` to a data set.

    Passed as an object it runs in Ray's tasks; passed as a class, with these arguments in
    ``fn_constructor_kwargs``, it runs in an actor pool. Either way each worker process opens the
    model once, on one thread.

    Args:
        model: A baked model file of the task ``embed``, at the same path on every node.
        column: The column of texts.
        prompt: Embed with this prompt; else the model's default.
        role: ``query`` or ``document``, in place of ``prompt``: embed with the model's prompt for
            these; without such a prompt with none, not even the default.
        fingerprint: The fingerprint that the file must have; it is the only check in an actor
            pool, which reads the file only in its workers.

    Raises:
        InputError: The file, the prompt or the fingerprint is not what was expected.
    """

    def __init__(
        self,
        model: str | os.PathLike[str],
        *,
        column: str = "text",
        prompt: str | None = None,
        role: Literal["query", "document"] | None = None,
        fingerprint: str | None = None,
    ) -> None:
        file = ModelFile.read(model, Prompt(prompt, role))
        if fingerprint is not None:
            check_fingerprint(file.path, file.manifest, fingerprint)
        self._column = Column(file, column)

    def __call__(self, batch: Any) -> pyarrow.Table:
        """A batch of any format that Ray has, as a table with its vectors.

        Raises:
            InputError: a text is missing, or the worker has another model file.
            CheckFailed: an embedding holds NaN or infinity.
        """
        return self._column.added_to(BlockAccessor.batch_to_block(batch))


def embed_files(
    files: Iterable[str | os.PathLike[str]],
    folder: str | os.PathLike[str],
    model: str | os.PathLike[str],
    *,
    column: str = "text",
    prompt: str | None = None,
    role: Literal["query", "document"] | None = None,
    force: bool = False,
) -> list[Embedded]:
    """Embed each file on a core, like ``polybake embed``, into a Parquet file of the same stem.

    An interrupted call can be repeated: it leaves finished files alone, and uses the finished parts
    of an unfinished file. If a worker dies, another worker continues its file.

    Args:
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
        InputError: Ray is not running, the model or the prompt is wrong, or a file is missing or of
            an unknown kind: nothing is embedded. Or a row or an existing output is wrong: all
            other files are embedded.
        CheckFailed: An embedding holds NaN or infinity; all other files are embedded.
    """
    if not ray.is_initialized():
        raise InputError("Ray is not running in this process; call ray.init() first")
    file_jobs = jobs(
        files, folder, ModelFile.read(model, Prompt(prompt, role)), column=column, force=force
    )
    run = ray.remote(num_cpus=1)(FileJob.run)
    return finished(ray.get([run.remote(job) for job in file_jobs]))
