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

#: Rows of a window, as many as the clients embed at a time.
MOST_ROWS = 8192

#: Characters of a window: long texts take as much memory, and as much work to lose, as short ones.
MOST_CHARACTERS = 2**20


def cut(rows: Iterable[tuple[Row, int]]) -> Iterator[list[Row]]:
    """Give windows of rows that come with their characters; only one row may have too many."""
    window: list[Row] = []
    held = 0
    for row, characters in rows:
        if window and (len(window) == MOST_ROWS or held + characters > MOST_CHARACTERS):
            yield window
            window, held = [], 0
        window.append(row)
        held += characters
    if window:
        yield window


@dataclass(frozen=True)
class Window(ABC):
    """Some rows of a corpus, one after another.

    Attributes:
        texts: One a row; None where it is missing.
        places: Where each row stands, in what the file counts by.
        unit: What it counts by.
    """

    texts: Sequence[str | None] = field(repr=False)
    places: Sequence[int] = field(repr=False)
    unit: str = "line"

    def __len__(self) -> int:
        return len(self.texts)

    def place(self, index: int) -> str:
        """Where a row stands, such as ``line 12``."""
        return f"{self.unit} {self.places[index]}"

    def digest(self) -> str:
        """SHA-256 (hex) over the texts: equal means the same texts in the same order."""
        found = hashlib.sha256()
        for text in self.texts:
            content = b"" if text is None else text.encode("utf-8")
            found.update(f"{-1 if text is None else len(content)}:".encode("ascii"))
            found.update(content)
        return found.hexdigest()

    @property
    @abstractmethod
    def names(self) -> Iterable[str]:
        """The columns of the rows."""

    @abstractmethod
    def objects(self) -> Iterator[str]:
        """Each row as a JSON object in one line.

        Raises:
            InputError: JSON has no form for a value.
        """

    @abstractmethod
    def table(self, schema: pyarrow.Schema) -> pyarrow.Table:
        """The rows as a table of the corpus's schema."""


@dataclass(frozen=True)
class ObjectWindow(Window):
    """Rows of a file of lines.

    Attributes:
        rows: The values by column.
        lines: The rows as the file has them, where that is JSON.
    """

    rows: Sequence[dict[str, Any]] = field(default=(), repr=False)
    lines: Sequence[str] | None = field(default=None, repr=False)

    @property
    def names(self) -> Iterable[str]:
        """Those of all rows, in the order in which they first occur."""
        return dict.fromkeys(name for row in self.rows for name in row)

    def objects(self) -> Iterator[str]:
        """Each row as a JSON object in one line; what was JSON stays as it is."""
        return iter(self.lines or [json.dumps(row, ensure_ascii=False) for row in self.rows])

    def table(self, schema: pyarrow.Schema) -> pyarrow.Table:
        """The rows as a table of the corpus's schema."""
        import pyarrow

        rows = pyarrow.array(self.rows, pyarrow.struct(schema))
        return pyarrow.Table.from_struct_array(rows).replace_schema_metadata(schema.metadata)
