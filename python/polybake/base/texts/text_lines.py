"""Files with one text per line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from polybake.base.texts.lines import text_lines, without_break
from polybake.base.texts.source import TextSource
from polybake.base.texts.window import ObjectWindow, cut

if TYPE_CHECKING:
    import pyarrow


@dataclass(frozen=True)
class TextLines(TextSource):
    """A UTF-8 file, or standard input, with one text per line; an empty line is an empty text."""

    def windows(self, *, whole: bool = False) -> Iterator[ObjectWindow]:  # noqa: ARG002
        """Yield the texts, the only column.

        Raises:
            InputError: A line is not UTF-8, or the file cannot be read.
        """
        with self._opened() as file:
            lines = map(without_break, text_lines(file, self.name))
            first = 1
            for texts in cut((line, len(line)) for line in lines):
                rows = [{self.column: text} for text in texts]
                yield ObjectWindow(texts, range(first, first + len(texts)), rows=rows)
                first += len(texts)

    def schema(self) -> pyarrow.Schema:
        """Return a schema with one column of texts."""
        import pyarrow

        return pyarrow.schema([(self.column, pyarrow.string())])
