"""Rows of comma-separated values below a line of names."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from polybake.base.texts.lines import LONGEST_LINE, text_lines
from polybake.base.texts.source import TextSource
from polybake.base.texts.window import ObjectWindow, cut
from polybake.errors import InputError

if TYPE_CHECKING:
    import pyarrow


@dataclass(frozen=True)
class CsvFile(TextSource):
    """A UTF-8 file as RFC 4180 has it. Every value is a text: ``007`` is not the number 7."""

    def windows(self, *, whole: bool = False) -> Iterator[ObjectWindow]:  # noqa: ARG002
        """Give the rows with all columns.

        Raises:
            InputError: the file is no such table, or has no such column.
        """
        with self._table() as (names, table):
            for rows in cut((row, sum(map(len, row[1]))) for row in table):
                values = [dict(zip(names, fields, strict=True)) for _, fields in rows]
                texts = [row[self.column] for row in values]
                yield ObjectWindow(texts, [line for line, _ in rows], rows=values)

    def schema(self) -> pyarrow.Schema:
        """Columns of texts."""
        import pyarrow

        with self._table() as (names, _):
            return pyarrow.schema([(name, pyarrow.string()) for name in names])

    @contextmanager
    def _table(self) -> Iterator[tuple[list[str], Iterator[tuple[int, list[str]]]]]:
        """The names, and the rows with the line that each begins in."""
        csv.field_size_limit(LONGEST_LINE)
        with self._opened() as file:
            rows = self._rows(text_lines(file, self.name))
            _, names = next(rows, (0, []))
            if self.column not in names or len({*names}) < len(names):
                raise self._wrong_names(names)
            yield names, self._checked(rows, len(names))

    def _rows(self, lines: Iterator[str]) -> Iterator[tuple[int, list[str]]]:
        reader = csv.reader(lines, strict=True)
        line = 1
        try:
            for row in reader:
                yield line, row
                line = reader.line_num + 1
        except csv.Error as error:
            raise InputError(
                f"{self.name}: line {line}: is not CSV ({error}); "
                "put a value with a comma or a line break between quotes, and double its quotes"
            ) from error

    def _checked(
        self, rows: Iterator[tuple[int, list[str]]], count: int
    ) -> Iterator[tuple[int, list[str]]]:
        for line, row in rows:
            if len(row) != count:
                raise InputError(
                    f"{self.name}: line {line}: has {len(row)} values, expected {count}, as many "
                    "as the first line has names; put a value with a comma between quotes"
                )
            yield line, row
