"""The base of all files of texts."""

from __future__ import annotations

import hashlib
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, cast

from polybake.base.texts.window import Window
from polybake.errors import InputError

if TYPE_CHECKING:
    import pyarrow


@dataclass(frozen=True)
class TextSource(ABC):
    """A file of texts, which may be larger than memory and may be read again and again.

    Attributes:
        path: The file; ``-`` is standard input, which is read once.
        column: The column that holds the texts.
    """

    #: What helps where it cannot be read.
    remedy: ClassVar[str] = "give a UTF-8 file with one text a line"

    path: Path
    column: str = "text"

    @property
    def once(self) -> bool:
        """Whether it can be read only once."""
        return str(self.path) == "-"

    @property
    def name(self) -> str:
        """The name in messages."""
        return "standard input" if self.once else str(self.path)

    @abstractmethod
    def windows(self, *, whole: bool = False) -> Iterator[Window]:
        """Yield the rows in order."""

    @abstractmethod
    def schema(self) -> pyarrow.Schema:
        """The columns of all rows."""

    def sha256(self) -> str:
        """Return the SHA-256 of the file, hex."""
        with self._opened() as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    @contextmanager
    def _opened(self) -> Iterator[BufferedReader]:
        if self.once:
            yield cast("BufferedReader", sys.stdin.buffer)
            return
        try:
            with self.path.open("rb") as file:
                yield file
        except OSError as error:
            raise self._unreadable(error) from error

    def _wrong_names(self, names: list[str]) -> InputError:
        """Return the error for a table without the column, or with several columns of one name."""
        if self.column not in names:
            return InputError(
                f"{self.name}: has no column {self.column!r}; choose one of: {', '.join(names)}"
            )
        name = next(name for name in names if names.count(name) > 1)
        return InputError(
            f"{self.name}: has {names.count(name)} columns {name!r}; "
            "write the file again with one name a column"
        )

    def _unreadable(self, error: Exception) -> InputError:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        return InputError(
            f"{self.name}: cannot be read ({' '.join(reason.split())}); {self.remedy}"
        )
