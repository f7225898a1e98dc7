"""The base of all files of vectors, written first in parts, then as one file."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, ClassVar

from numpy.typing import NDArray

from polybake.base.modelfile import manifest
from polybake.base.texts.source import TextSource
from polybake.base.texts.window import Window
from polybake.bulk.embed.record import read_record, record_of

#: The column that the vectors are in.
COLUMN = "embedding"


@dataclass(frozen=True)
class Output(ABC):
    """A file of vectors, for one corpus and one model.

    Attributes:
        source: The corpus of the rows.
        contract: The model's output.
    """

    #: Whether the rows keep the corpus's columns.
    carries: ClassVar[bool]

    #: Whether the file has room for the record of its origin.
    holds_record: ClassVar[bool] = False

    source: TextSource
    contract: manifest.Output

    @classmethod
    def written(cls, out: Path) -> dict[str, Any]:
        """Return the record of a finished file; empty without a record."""
        return read_record(record_of(out)) if out.is_file() else {}

    def check(self, window: Window) -> None:  # noqa: B027 - most kinds take every row
        """Refuse, before the long run, rows that could not be written."""

    @abstractmethod
    def write_part(self, file: BinaryIO, window: Window, vectors: NDArray[Any]) -> None:
        """Write the rows of a window with their vectors, ``[rows, dimension]``."""

    @abstractmethod
    def join(self, file: BinaryIO, parts: Iterable[Path], record: Mapping[str, Any]) -> None:
        """Write the rows of all parts, in their order, holding one part at a time."""
