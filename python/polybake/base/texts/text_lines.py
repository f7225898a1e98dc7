"""Files with one text per line, and the lines of any UTF-8 file, each judged by its number."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, BinaryIO

from polybake.base.texts.source import TextSource
from polybake.base.texts.window import ObjectWindow, cut
from polybake.errors import InputError

if TYPE_CHECKING:
    import pyarrow

#: The most bytes of a line. Else a file without line breaks, such as a picture, is read whole.
LONGEST_LINE = 2**26


@dataclass(frozen=True)
class TextLines(TextSource):
    """A UTF-8 file, or standard input, with one text per line; an empty line is an empty text."""

    def windows(self, *, whole: bool = False) -> Iterator[ObjectWindow]:  # noqa: ARG002
        """Yield the texts, the only column."""
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


def text_lines(file: BinaryIO, name: str) -> Iterator[str]:
    r"""Give each line of the file ``name`` with its line break, which is ``\n`` or ``\r\n``.

    Not ``splitlines``: a text may hold U+2028, a form feed and the like. A byte order mark at the
    beginning, as editors on Windows write it, is no part of the first line.
    """
    lines = iter(partial(file.readline, LONGEST_LINE + 1), b"")
    for number, line in enumerate(lines, 1):
        if len(line) > LONGEST_LINE:
            raise InputError(
                f"{name}: line {number} has more than {LONGEST_LINE} bytes; "
                "give one text a line, and cut what is longer"
            )
        try:
            text = line.decode("utf-8")
        except UnicodeDecodeError as error:
            raise InputError(
                f"{name}: line {number} is not valid Unicode (byte {error.start + 1} of it is "
                f"0x{line[error.start]:02x}); give a UTF-8 file, or repair or drop the line"
            ) from error
        yield text.removeprefix("\ufeff") if number == 1 else text


def without_break(line: str) -> str:
    """Return the line without its line break."""
    return line.removesuffix("\n").removesuffix("\r")
