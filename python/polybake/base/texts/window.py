"""A stretch of a corpus, small enough to be held in memory."""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import pyarrow

Row = TypeVar("Row")

#: The most rows of a window, as many as the clients embed at a time.
MOST_ROWS = 8192

#: The most characters of a window: so long texts take no more memory than short ones, and no more
#: work is lost.
MOST_CHARACTERS = 2**20


def cut(rows: Iterable[tuple[Row, int]], most: int | None = None) -> Iterator[list[Row]]:
    """Yield windows of rows, given with their sizes; only a single row may exceed a window."""
    limit = MOST_CHARACTERS if most is None else most
    window: list[Row] = []
    total = 0
    for row, size in rows:
        if window and (len(window) == MOST_ROWS or total + size > limit):
            yield window
            window, total = [], 0
        window.append(row)
        total += size
    if window:
        yield window


@dataclass(frozen=True)
class Window(ABC):
    """Consecutive rows of a corpus.

    Attributes:
        texts: The text of each row; None if it is missing.
        places: The number of each row, counted in ``unit``.
        unit: What the file counts by.
    """

    texts: Sequence[str | None] = field(repr=False)
    places: Sequence[int] = field(repr=False)
    unit: str = "line"

    def __len__(self) -> int:
        return len(self.texts)

    def place(self, index: int) -> str:
        """Return the place of a row, such as ``line 12``."""
        return f"{self.unit} {self.places[index]}"

    def digest(self) -> str:
        """Return the SHA-256 (hex) of the texts: equal for the same texts in the same order."""
        digest = hashlib.sha256()
        for text in self.texts:
            content = b"" if text is None else text.encode("utf-8")
            digest.update(f"{-1 if text is None else len(content)}:".encode("ascii"))
            digest.update(content)
        return digest.hexdigest()

    @property
    @abstractmethod
    def names(self) -> Iterable[str]:
        """The names of all columns of the rows."""

    @abstractmethod
    def objects(self) -> Iterator[str]:
        """Yield each row as a JSON object in one line."""

    @abstractmethod
    def table(self, schema: pyarrow.Schema) -> pyarrow.Table:
        """The rows as a table of the corpus's schema."""


@dataclass(frozen=True)
class ObjectWindow(Window):
    """Rows of a file of lines.

    Attributes:
        rows: The values by column.
        lines: The rows as they stand in the file, if the file is JSON.
    """

    rows: Sequence[dict[str, Any]] = field(default=(), repr=False)
    lines: Sequence[str] | None = field(default=None, repr=False)

    @property
    def names(self) -> Iterable[str]:
        """The names of all columns, in order of first occurrence."""
        return dict.fromkeys(name for row in self.rows for name in row)

    def objects(self) -> Iterator[str]:
        """Return each row as a JSON object in one line; rows that were JSON stay as they are."""
        return iter(self.lines or [json.dumps(row, ensure_ascii=False) for row in self.rows])

    def table(self, schema: pyarrow.Schema) -> pyarrow.Table:
        """The rows as a table of the corpus's schema."""
        import pyarrow

        rows = pyarrow.array(self.rows, pyarrow.struct(schema))
        return pyarrow.Table.from_struct_array(rows).replace_schema_metadata(schema.metadata)
