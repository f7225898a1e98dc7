"""The texts of a large file, one after another, without holding them all."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from polybake.errors import InputError, RequirementMissing

if TYPE_CHECKING:
    from pyarrow.parquet import ParquetFile


@dataclass(frozen=True)
class Corpus:
    """A UTF-8 file with one text a line, or a column of a Parquet file (suffix ``.parquet``).

    Empty texts are left out.

    Attributes:
        path: The file.
        column: The column that holds the texts of a Parquet file.
    """

    path: Path
    column: str = "text"

    def __iter__(self) -> Iterator[str]:
        """Give the texts in the file's order.

        Raises:
            InputError: the file cannot be read, is not UTF-8, or has no such column of texts.
            RequirementMissing: pyarrow is not installed and the file is a Parquet file.
        """
        found = self._parquet() if self.path.suffix == ".parquet" else self._lines()
        return (text for text in found if text)

    def sha256(self) -> str:
        """The SHA-256 of the file, hex.

        Raises:
            InputError: the file cannot be read.
        """
        try:
            with self.path.open("rb") as file:
                return hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise self._unreadable(error) from error

    def _lines(self) -> Iterator[str]:
        try:
            # Not splitlines: a text may hold U+2028, a form feed and the like.
            with self.path.open(encoding="utf-8") as file:
                for line in file:
                    yield line.removesuffix("\n")
        except (OSError, UnicodeDecodeError) as error:
            raise self._unreadable(error) from error

    def _parquet(self) -> Iterator[str | None]:
        try:
            from pyarrow.lib import ArrowException
            from pyarrow.parquet import ParquetFile
        except ModuleNotFoundError as error:
            raise RequirementMissing(
                f"{self.path}: reading Parquet needs the package pyarrow; pip install pyarrow, "
                "or give a UTF-8 file with one text a line"
            ) from error
        try:
            yield from self._cells(ParquetFile(self.path))
        except (OSError, ArrowException, UnicodeDecodeError) as error:
            raise self._unreadable(error) from error

    def _cells(self, file: ParquetFile) -> Iterator[str | None]:
        names = file.schema_arrow.names
        if self.column not in names:
            raise InputError(
                f"{self.path}: has no column {self.column!r}; choose one of: {', '.join(names)}"
            )
        if names.count(self.column) > 1:
            raise InputError(
                f"{self.path}: has {names.count(self.column)} columns {self.column!r}; "
                "write the file again with one name a column"
            )
        if str(file.schema_arrow.field(self.column).type) not in ("string", "large_string"):
            raise InputError(
                f"{self.path}: column {self.column!r} holds "
                f"{file.schema_arrow.field(self.column).type}; choose a column of texts"
            )
        for batch in file.iter_batches(columns=[self.column]):
            yield from batch.column(0).to_pylist()

    def _unreadable(self, error: Exception) -> InputError:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        return InputError(
            f"{self.path}: cannot be read ({' '.join(reason.split())}); "
            "give a UTF-8 file with one text a line"
        )
