"""Vectors for the batches of a Ray data set."""

from __future__ import annotations

import os
from typing import Any, Literal

import pyarrow
from ray.data.block import BlockAccessor

from polybake.bulk.embed.column import Column
from polybake.bulk.embed.model_file import ModelFile, check_fingerprint
from polybake.runtime.prompt import Prompt


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
