"""A column of texts in a table that an engine hands out in batches."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
from numpy.typing import NDArray

from polybake.bulk.embed.model_file import ModelFile
from polybake.bulk.embed.outputs.output import COLUMN
from polybake.bulk.embed.record import RECORD, record_of_texts
from polybake.errors import CheckFailed, InputError


@dataclass(frozen=True)
class Column:
    """A column of texts and the model that embeds it; small enough to be sent to workers.

    Attributes:
        model: The model file that workers open.
        name: The column's name.
    """

    model: ModelFile
    name: str = "text"

    @property
    def metadata(self) -> dict[str, str]:
        """The record of the vectors' origin, as far as a table knows it, for the new column."""
        texts = {"column": self.name}
        record = record_of_texts(self.model.manifest, self.model.prompt_name, "cpu", texts)
        return {RECORD: json.dumps(record)}

    def check(self, names: Sequence[str]) -> None:
        """Refuse a table without the column of texts, or with a column of vectors.

        Raises:
            InputError: The column is missing, or a column already has the name for vectors.
        """
        if self.name not in names:
            raise InputError(
                f"the table has no column {self.name!r}; choose one of: {', '.join(names)}"
            )
        if COLUMN in names:
            raise InputError(f"the table has a column {COLUMN!r} already; rename it or drop it")

    def vectors(self, texts: Sequence[Any], path: Path | None = None) -> NDArray[Any]:
        """Embed the texts of a batch: ``[texts, dimension]`` of the model's dtype.

        Args:
            texts: The text of each row.
            path: The worker's path of the model file; None is the driver's path.

        Raises:
            InputError: A value is not a text, or the worker has another model file.
            CheckFailed: an embedding holds NaN or infinity.
        """
        for text in texts:
            if text is None:
                raise InputError(
                    f"{self.name!r} is null; expected a text; fill it, or drop the row"
                )
            if not isinstance(text, str):
                raise InputError(
                    f"column {self.name!r} holds {text!r}, expected a text; "
                    "choose a column of texts"
                )
        runner = self.model.runner(path)
        vectors = runner.embed(runner.ids(texts))
        if vectors.dtype == np.float32 and not np.isfinite(vectors).all():
            text = texts[int(np.argmin(np.isfinite(vectors).all(axis=1)))]
            raise CheckFailed(
                f"the embedding of {text!r} holds NaN or infinity; drop the row, or look for the "
                "cause with: polybake check MODEL"
            )
        return vectors

    def added_to(self, table: pyarrow.Table) -> pyarrow.Table:
        """Return a table with its vectors in a further column, as lists of a fixed size.

        Raises:
            InputError: The table has no such column of texts, has vectors already, or has a text
                that is missing or damaged; or the worker has another model file.
            CheckFailed: an embedding holds NaN or infinity.
        """
        self.check(table.column_names)
        try:
            texts = table.column(self.name).to_pylist()
        except UnicodeDecodeError as error:
            raise InputError(
                f"column {self.name!r} is not valid Unicode; repair or drop the row"
            ) from error
        vectors = self.vectors(texts)
        elements = pyarrow.array(vectors.reshape(-1))
        kind = pyarrow.list_(elements.type, vectors.shape[1])
        column = pyarrow.FixedSizeListArray.from_arrays(elements, type=kind)
        return table.append_column(pyarrow.field(COLUMN, kind, metadata=self.metadata), column)
