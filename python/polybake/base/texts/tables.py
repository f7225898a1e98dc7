"""Tables that pyarrow reads: comma-separated values and Parquet."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar

import pyarrow
from pyarrow import csv, parquet

from polybake.base.texts.source import TextSource
from polybake.base.texts.window import Window, cut
from polybake.errors import InputError

#: Rows that are decoded at once, before they are cut into windows.
_BATCH_ROWS = 8192
#: The bytes of a batch, estimated from the sizes of the file's row groups, and of a value of CSV.
_BATCH_BYTES = 2**25
#: By default pyarrow keeps every row group that it has read, with whole columns.
_STREAMED = {"buffer_size": 2**20, "pre_buffer": False}
_TEXTS = ("string", "large_string", "string_view")
_QUOTES = "put a value with a comma or a line break between quotes, and double its quotes"


@dataclass(frozen=True)
class TableWindow(Window):
    """Rows of a table: the columns that were read, of all ``names``."""

    source: str = ""
    names: Iterable[str] = ()
    rows: pyarrow.RecordBatch = field(default=None, repr=False)

    def objects(self) -> Iterator[str]:
        """Yield each row as a JSON object in one line."""
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
class _Table(TextSource):
    """A table whose rows come in batches."""

    #: The number of the first row.
    first: ClassVar[int] = 1

    @abstractmethod
    def _batches(self, *, whole: bool) -> Iterator[tuple[pyarrow.Schema, pyarrow.RecordBatch]]:
        """Yield the file's schema, and rows with all columns or with the texts alone."""

    def windows(self, *, whole: bool = False) -> Iterator[TableWindow]:
        """Yield the rows, with only the texts unless ``whole``."""
        start = self.first
        with self._errors():
            for schema, batch in self._batches(whole=whole):
                rest = batch
                for texts in cut((text, len(text or "")) for text in self._texts(batch, start)):
                    places, rows = range(start, start + len(texts)), rest.slice(0, len(texts))
                    yield TableWindow(texts, places, "row", self.name, schema.names, rows)
                    start, rest = start + len(texts), rest.slice(len(texts))

    def _checked(self, schema: pyarrow.Schema) -> pyarrow.Schema:
        """Return the schema, which has the column of texts and one column a name."""
        names: list[str] = schema.names
        if self.column not in names or len({*names}) < len(names):
            raise self._wrong_names(names)
        kind = schema.field(self.column).type
        values = kind.value_type if pyarrow.types.is_dictionary(kind) else kind
        if str(values) not in _TEXTS:
            raise InputError(
                f"{self.name}: column {self.column!r} holds {kind}; choose a column of texts"
            )
        return schema

    def _texts(self, batch: pyarrow.RecordBatch, first: int) -> list[str | None]:
        texts: list[str | None] = []
        for row, text in enumerate(batch.column(self.column), first):
            try:
                texts.append(text.as_py())
            except UnicodeDecodeError as error:
                raise InputError(
                    f"{self.name}: row {row}: column {self.column!r} is not valid Unicode; "
                    "repair or drop the row"
                ) from error
        return texts

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except (OSError, pyarrow.ArrowException) as error:
            raise self._unreadable(error) from error


@dataclass(frozen=True)
class ParquetFile(_Table):
    """A Parquet file; rows are counted from 1."""

    def schema(self) -> pyarrow.Schema:
        """The file's own."""
        with self._errors():
            return parquet.read_schema(self.path)

    def _batches(self, *, whole: bool) -> Iterator[tuple[pyarrow.Schema, pyarrow.RecordBatch]]:
        with parquet.ParquetFile(self.path, **_STREAMED) as file:
            schema = self._checked(file.schema_arrow)
            groups = map(file.metadata.row_group, range(file.num_row_groups))
            size = sum(group.total_byte_size for group in groups) / max(1, file.metadata.num_rows)
            rows = max(1, min(_BATCH_ROWS, int(_BATCH_BYTES / max(1, size))))
            columns = None if whole else [self.column]
            # Each thread would keep memory of its own, and reading is not the slowest part.
            for batch in file.iter_batches(rows, columns=columns, use_threads=False):
                yield schema, batch


@dataclass(frozen=True)
class CsvFile(_Table):
    """A UTF-8 file as RFC 4180 has it. Every value is a text: ``007`` is not the number 7.

    Rows are counted as pyarrow does: that of the names is the first.
    """

    first: ClassVar[int] = 2
    remedy: ClassVar[str] = f"{_QUOTES}, in UTF-8"

    def schema(self) -> pyarrow.Schema:
        """Columns of texts."""
        with self._errors():
            return pyarrow.schema([(name, pyarrow.string()) for name in self._names()])

    def _names(self) -> list[str]:
        quotes, names = 0, []
        with self._opened() as file:
            while block := file.read(_BATCH_BYTES):
                quotes += block.count(b'"')
        if quotes % 2:  # pyarrow would take all of the file behind the last one for one value
            raise InputError(
                f"{self.name}: is not CSV, as one of its {quotes} quotes is not closed; {_QUOTES}"
            )
        if self.path.stat().st_size:
            names = self._read({}).schema.names
        if self.column not in names or len({*names}) < len(names):
            raise self._wrong_names(names)
        return names

    def _batches(self, *, whole: bool) -> Iterator[tuple[pyarrow.Schema, pyarrow.RecordBatch]]:  # noqa: ARG002
        with self._read(dict.fromkeys(self._names(), pyarrow.string())) as file:
            for batch in file:
                yield file.schema, batch

    def _read(self, types: dict[str, pyarrow.DataType]) -> csv.CSVStreamingReader:
        return csv.open_csv(
            self.path,
            csv.ReadOptions(use_threads=False, block_size=_BATCH_BYTES),
            csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False),
            csv.ConvertOptions(column_types=types, strings_can_be_null=False),
        )
