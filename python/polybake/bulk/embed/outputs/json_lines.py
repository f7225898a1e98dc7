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

#: As many digits as bring back every float32, and half of those that Python's floats have.
_NUMBER = "%.9g"


class JsonLinesOutput(Output):
    """One object a line; one that comes from JSON keeps every character that it had."""

    carries = True

    def check(self, window: Window) -> None:
        """Refuse a value that JSON has no form for.

        Raises:
            InputError: a row has one.
        """
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
        """Write all objects, one part behind the other."""
        for part in parts:
            with part.open("rb") as rows:
                shutil.copyfileobj(rows, file, 1 << 20)


def _written(vectors: NDArray[Any]) -> Iterator[str]:
    """The elements of each vector, as JSON between its brackets."""
    if vectors.dtype != np.float32:
        return (json.dumps(vector.tolist())[1:-1] for vector in vectors)
    form = ", ".join([_NUMBER] * vectors.shape[1])
    return (form % tuple(vector.tolist()) for vector in vectors)
