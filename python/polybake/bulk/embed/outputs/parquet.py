"""A Parquet file with the corpus's columns and a column of vectors."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow
from numpy.typing import NDArray
from pyarrow import parquet

from polybake.base.texts.window import Window
from polybake.bulk.embed.outputs.output import COLUMN, Output
from polybake.bulk.embed.record import RECORD
from polybake.errors import InputError


@dataclass(frozen=True)
class ParquetOutput(Output):
    """A table whose column of vectors has a fixed size; a part is a row group."""

    carries = True
    holds_record = True

    def __post_init__(self) -> None:
        """Find what Parquet cannot hold before the long run."""
        try:
            self._write(io.BytesIO(), self._schema.empty_table())
        except pyarrow.ArrowException as error:
            raise InputError(
                f"{self.source.name}: Parquet cannot hold its columns "
                f"({' '.join(str(error).split())}); write .jsonl, or leave the column out"
            ) from error

    @classmethod
    def written(cls, out: Path) -> dict[str, Any]:
        """Return the record in a finished table; empty without a record."""
        try:
            metadata = parquet.read_schema(out).metadata or {}
            return dict(json.loads(metadata.get(RECORD.encode(), b"{}")))
        except (OSError, ValueError, pyarrow.ArrowException):
            return {}

    def write_part(self, file: BinaryIO, window: Window, vectors: NDArray[Any]) -> None:
        """Write the rows of a window as a file of their own."""
        rows = window.table(self._columns)
        kind = self._schema.field(COLUMN).type
        elements = pyarrow.array(vectors.reshape(-1))
        column = pyarrow.FixedSizeListArray.from_arrays(elements, type=kind)
        self._write(file, rows.append_column(COLUMN, column).cast(self._schema))

    def join(self, file: BinaryIO, parts: Iterable[Path], record: Mapping[str, Any]) -> None:
        """Write all rows, with the record in the schema's metadata."""
        metadata = {RECORD: json.dumps(record)}
        schema = self._schema.with_metadata({**(self._schema.metadata or {}), **metadata})
        with parquet.ParquetWriter(file, schema, **self._settings) as writer:
            for part in parts:
                # Not read_table: it would make a column of a folder called year=2024.
                with parquet.ParquetFile(part) as file_of_part:
                    writer.write_table(file_of_part.read().cast(schema))

    def _write(self, file: BinaryIO, table: pyarrow.Table) -> None:
        parquet.write_table(table, file, **self._settings)

    @property
    def _settings(self) -> dict[str, Any]:
        """The settings: no dictionary and no statistics for vectors, which all differ."""
        return {"use_dictionary": self._columns.names, "write_statistics": self._columns.names}

    @cached_property
    def _columns(self) -> pyarrow.Schema:
        return self.source.schema()

    @cached_property
    def _schema(self) -> pyarrow.Schema:
        elements = pyarrow.from_numpy_dtype(self.contract.dtype)
        vectors = pyarrow.list_(elements, self.contract.dimension)
        return self._columns.append(pyarrow.field(COLUMN, vectors))
