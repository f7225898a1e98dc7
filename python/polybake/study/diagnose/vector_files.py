"""Read vectors that another program made, with their texts."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polybake.base.texts import open_corpus
from polybake.errors import InputError

_KINDS = ".npy, .jsonl, .csv, .parquet"


def read_vectors(
    vectors: Path, texts: Path | None, *, column: str, text_column: str
) -> tuple[list[str], NDArray[np.float32]]:
    """Read vectors, float32 ``[texts, dimension]``, and their texts, in the order of both files.

    A table has a column of lists, which a CSV has as ``[0.1, 0.2]`` or ``{0.1, 0.2}``. Without a
    file of texts they are a column of the same table.
    """
    all_texts: list[str]
    if vectors.suffix.lower() == ".npy":
        if texts is None:
            raise InputError(f"{vectors}: holds no texts; give them by --texts FILE")
        rows: Any = _array(vectors)
        all_texts = []
    else:
        table = list(_rows(vectors))
        rows = [_vector(vectors, number, row, column) for number, row in enumerate(table, start=1)]
        all_texts = [] if texts else [_text(vectors, row, text_column) for row in table]
    if texts is not None:
        all_texts = read_texts(texts, text_column)
    return all_texts, _matrix(vectors, rows, len(all_texts))


def read_texts(path: Path, column: str) -> list[str]:
    """Read all texts of a file with `open_corpus`."""
    windows = open_corpus(path, column).windows()
    return [text or "" for window in windows for text in window.texts]


def _matrix(path: Path, rows: Any, texts: int) -> NDArray[np.float32]:
    if len(rows) != texts:
        raise InputError(f"{path}: has {len(rows)} vectors for {texts} texts; give one for each")
    if not texts:
        raise InputError(f"{path}: has no vectors; give some")
    sizes = {len(row) for row in rows}
    if len(sizes) > 1:
        raise InputError(f"{path}: has vectors of {min(sizes)} and of {max(sizes)} elements")
    return np.asarray(rows, np.float32)


def _array(path: Path) -> NDArray[Any]:
    try:
        array = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        reason = " ".join(str(error).split())
        raise InputError(f"{path}: cannot be read ({reason}); write it by numpy.save") from error
    if not isinstance(array, np.ndarray) or array.ndim != 2 or array.dtype.kind not in "fiu":
        shape = getattr(array, "shape", "several arrays")
        raise InputError(f"{path}: holds {shape}; expected numbers [texts, dimension]")
    return array


def _rows(path: Path) -> Iterator[Mapping[str, Any]]:
    """Yield the rows of a table, each by column."""
    kind = path.suffix.lower()
    if kind == ".parquet":
        open_corpus(path)  # says what is missing, the file or the package
        from pyarrow import parquet

        for batch in parquet.ParquetFile(path).iter_batches():
            yield from batch.to_pylist()
        return
    if kind not in (".jsonl", ".csv"):
        raise InputError(f"{path}: is of no kind that is known; choose one of: {_KINDS}")
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            if kind == ".csv":
                csv.field_size_limit(sys.maxsize)  # a vector is longer than the default limit
                yield from csv.DictReader(file)
            else:
                yield from (json.loads(line) for line in file if line.strip())
    except (OSError, ValueError, csv.Error) as error:
        reason = " ".join(str(error).split())
        raise InputError(f"{path}: cannot be read ({reason}); give one of: {_KINDS}") from error


def _vector(path: Path, number: int, row: Mapping[str, Any], column: str) -> list[float]:
    if not isinstance(row, Mapping) or column not in row:
        names = ", ".join(row) if isinstance(row, Mapping) else "none"
        raise InputError(
            f"{path}: row {number} has no column {column!r}; choose by --column one of: {names}"
        )
    value = row[column]
    try:
        if isinstance(value, str):
            value = json.loads(value.translate({ord("{"): "[", ord("}"): "]"}))
        return [float(element) for element in value]
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{path}: row {number}: {column!r} is no list of numbers; write it as [0.1, 0.2]"
        ) from error


def _text(path: Path, row: Mapping[str, Any], column: str) -> str:
    text = row.get(column)
    if not isinstance(text, str):
        raise InputError(
            f"{path}: a row has no text in {column!r}; name the column by --text-column, or give "
            "the texts by --texts FILE"
        )
    return text
