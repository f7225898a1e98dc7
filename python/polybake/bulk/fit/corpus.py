"""The texts that arrays are fitted to."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from polybake.base.texts import open_corpus
from polybake.base.texts.source import TextSource
from polybake.errors import InputError


@dataclass(frozen=True)
class Corpus:
    """A file of texts; empty and missing texts are left out.

    Attributes:
        path: The file, of a kind that `open_corpus` reads.
        column: The column of the texts, if there are several.
    """

    path: Path
    column: str = "text"

    def __iter__(self) -> Iterator[str]:
        """Yield the texts in the file's order."""
        for window in self._source().windows():
            yield from filter(None, window.texts)

    def sha256(self) -> str:
        """The SHA-256 of the file, hex."""
        return self._source().sha256()

    def _source(self) -> TextSource:
        source = open_corpus(self.path, self.column)
        if source.once:
            raise InputError("-: texts are read more than once to fit arrays to them; give a file")
        return source
