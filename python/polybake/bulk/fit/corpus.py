"""The texts that arrays are fitted to."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from polybake.base.texts import open_corpus
from polybake.base.texts.source import TextSource
from polybake.errors import InputError


@dataclass(frozen=True)
class Corpus:
    """A file of texts, of which empty and missing ones are left out.

    Attributes:
        path: The file; `open_corpus` says which kinds there are.
        column: The column that holds the texts, where there are several.
    """

    path: Path
    column: str = "text"

    def __iter__(self) -> Iterator[str]:
        """Give the texts in the file's order.

        Raises:
            InputError: the file cannot be read, is not UTF-8, or has no such column of texts.
            RequirementMissing: pyarrow is not installed and the file is a Parquet file.
        """
        for window in self._source().windows():
            yield from filter(None, window.texts)

    def sha256(self) -> str:
        """The SHA-256 of the file, hex.

        Raises:
            InputError: the file cannot be read.
        """
        return self._source().sha256()

    def _source(self) -> TextSource:
        source = open_corpus(self.path, self.column)
        if source.once:
            raise InputError("-: texts are read more than once to fit arrays to them; give a file")
        return source
