"""Rows of a Parquet file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pyarrow
from pyarrow import parquet

from polybake.base.texts.source import TextSource
from polybake.base.texts.window import Window, cut
from polybake.errors import InputError

#: Rows that are decoded at once, before they are cut into windows.
_BATCH_ROWS = 8192

#: The bytes of a batch, estimated from the sizes of the file's row groups.
_BATCH_BYTES = 2**25

#: By default pyarrow keeps every row group that it has read, with whole columns.
_STREAMED = {"buffer_size": 2**20, "pre_buffer": False}

_TEXTS = ("string", "large_string", "string_view")


@dataclass(frozen=True)
class ParquetWindow(Window):
    """Rows of a Parquet file.

    Attributes:
        source: The file's name in messages.
        all_names: The file's columns, whether they were read or not.
        rows: The columns that were read.
    """

    source: str = ""
    all_names: Iterable[str] = ()
    rows: pyarrow.RecordBatch = field(default=None, repr=False)

    @property
    def names(self) -> Iterable[str]:
        """The file's columns."""
        return self.all_names

    def objects(self) -> Iterator[str]:
        """Yield each row as a JSON object in one line.

        Raises:
            InputError: JSON cannot express a value.
        """
        for index, row in enumerate(self.rows.to_pylist()):
            try:
                yield json.dumps(row, ensure_ascii=False, allow_nan=False)
            except (TypeError, ValueError) as error:
                raise self._no_json(index, row) from error

    def table(self, schema: pyarrow.Schema) -> pyarrow.Table:
        """The rows as a table of the corpus's schema."""
        return pyarrow.Table.from_batches([self.rows], self.rows.schema).cast(schema)

    def _no_json(self, index: int, row: dict[str, Any]) -> InputError:
        for name, value in row.items():
            try:
                json.dumps(value, allow_nan=False)
            except (TypeError, ValueError):
                return InputError(
                    f"{self.source}: {self.place(index)}: column {name!r} holds {value!r}, for "
                    "which JSON has no form; write .parquet, or leave the column out"
                )
        raise AssertionError("a row that has no form has a value that has none")


@dataclass(frozen=True)
class ParquetFile(TextSource):
    """A Parquet file; rows are counted from 1."""

    def windows(self, *, whole: bool = False) -> Iterator[ParquetWindow]:
        """Yield the rows, with only the texts unless ``whole``.

        Raises:
            InputError: The file cannot be read, or has no such column of texts.
        """
        try:
            with parquet.ParquetFile(self.path, **_STREAMED) as file:
                yield from self._windows(file, whole)
        except (OSError, pyarrow.ArrowException) as error:
            raise self._unreadable(error) from error

    def schema(self) -> pyarrow.Schema:
        """The file's own."""
        try:
            return parquet.read_schema(self.path)
        except (OSError, pyarrow.ArrowException) as error:
            raise self._unreadable(error) from error

    def _windows(self, file: parquet.ParquetFile, whole: bool) -> Iterator[ParquetWindow]:
        names = self._checked(file.schema_arrow)
        columns = None if whole else [self.column]
        first = 1
        size = _rows_at_once(file.metadata)
        # Each thread would keep memory of its own, and reading is not the slowest part.
        for batch in file.iter_batches(size, columns=columns, use_threads=False):
            texts = self._texts(batch.column(self.column), first)
            start = 0
            for part in cut((text, len(text or "")) for text in texts):
                places = range(first + start, first + start + len(part))
                rows = batch.slice(start, len(part))
                yield ParquetWindow(part, places, "row", self.name, names, rows)
                start += len(part)
            first += len(texts)

    def _texts(self, column: pyarrow.Array, first: int) -> list[str | None]:
        try:
            texts: list[str | None] = column.to_pylist()
        except UnicodeDecodeError as error:
            row = first + next(filter(partial(_is_damaged, column), range(len(column))))
            raise InputError(
                f"{self.name}: row {row}: column {self.column!r} is not valid Unicode; "
                "repair or drop the row"
            ) from error
        return texts

    def _checked(self, schema: pyarrow.Schema) -> list[str]:
        names: list[str] = schema.names
        if self.column not in names or len({*names}) < len(names):
            raise self._wrong_names(names)
        kind = schema.field(self.column).type
        values = kind.value_type if pyarrow.types.is_dictionary(kind) else kind
        if str(values) not in _TEXTS:
            raise InputError(
                f"{self.name}: column {self.column!r} holds {kind}; choose a column of texts"
            )
        return names


def _is_damaged(column: pyarrow.Array, index: int) -> bool:
    try:
        column[index].as_py()
    except UnicodeDecodeError:
        return True
    return False


def _rows_at_once(file: parquet.FileMetaData) -> int:
    """The rows of a batch that fits into memory, whatever the other columns hold."""
    groups = map(file.row_group, range(file.num_row_groups))
    size = sum(group.total_byte_size for group in groups) / max(1, file.num_rows)
    return max(1, min(_BATCH_ROWS, int(_BATCH_BYTES / max(1, size))))
