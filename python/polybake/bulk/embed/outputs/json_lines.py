"""The corpus's rows as JSON, each with its vector."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from polybake.base.texts.window import Window
from polybake.bulk.embed.outputs.output import COLUMN, Output

#: Enough digits to restore every float32; Python's floats have twice as many.
_NUMBER = "%.9g"


class JsonLinesOutput(Output):
    """A file with a JSON object per line; objects from JSON keep every character."""

    carries = True

    def check(self, window: Window) -> None:
        """Refuse a value that JSON cannot express."""
        for _ in window.objects():
            pass

    def write_part(self, file: BinaryIO, window: Window, vectors: NDArray[Any]) -> None:
        """Write the objects of a window."""
        for row, vector in zip(window.objects(), _written(vectors), strict=True):
            file.write(f'{row[:-1]}, "{COLUMN}": [{vector}]}}\n'.encode())

    def join(
        self,
        file: BinaryIO,
        parts: Iterable[Path],
        record: Mapping[str, Any],  # noqa: ARG002
    ) -> None:
        """Write the objects of all parts, in order."""
        for part in parts:
            with part.open("rb") as rows:
                shutil.copyfileobj(rows, file, 1 << 20)


def _written(vectors: NDArray[Any]) -> Iterator[str]:
    """The elements of each vector, as JSON between its brackets."""
    if vectors.dtype != np.float32:
        return (json.dumps(vector.tolist())[1:-1] for vector in vectors)
    form = ", ".join([_NUMBER] * vectors.shape[1])
    return (form % tuple(vector.tolist()) for vector in vectors)
