"""Rows of Parquet files."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from polybake.base.texts import window
from polybake.errors import InputError

pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")


def corpus(folder: Path, table: Any, column: str = "text", **settings: Any) -> Any:
    from polybake.base.texts.tables import ParquetFile

    path = folder / "texts.parquet"
    parquet.write_table(table, path, **settings)
    return ParquetFile(path, column)


def test_rows_come_in_their_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows keep their order across row groups and windows, and other columns come on request."""
    monkeypatch.setattr(window, "MOST_ROWS", 4)
    rows = [{"id": i, "text": None if i == 5 else f"t{i}"} for i in range(11)]
    read = corpus(tmp_path, pyarrow.Table.from_pylist(rows), row_group_size=7)
    assert [text for part in read.windows() for text in part.texts] == [r["text"] for r in rows]
    parts = list(read.windows(whole=True))
    assert [row for part in parts for row in part.table(read.schema()).to_pylist()] == rows
    assert [part.place(0) for part in parts] == [f"row {part.places[0]}" for part in parts]
    assert [place for part in parts for place in part.places] == list(range(1, 12))
    assert next(parts[0].objects()) == '{"id": 0, "text": "t0"}'


@pytest.mark.parametrize("kind", ["large_string", "string_view", "dictionary"])
def test_texts_of_every_type(kind: str, tmp_path: Path) -> None:
    """Large strings, string views and dictionaries, such as pandas' categories, are texts too."""
    types = {"dictionary": pyarrow.dictionary(pyarrow.int32(), pyarrow.string())}
    column = pyarrow.array(["a", "b", "a"]).cast(types.get(kind) or getattr(pyarrow, kind)())
    (read,) = corpus(tmp_path, pyarrow.table({"text": column})).windows()
    assert read.texts == ["a", "b", "a"]


@pytest.mark.parametrize("row_groups", [1, 50])
def test_memory_does_not_grow_with_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, row_groups: int
) -> None:
    """Memory stays bounded with one row group and with many."""
    from polybake.base.texts import tables

    monkeypatch.setattr(tables, "_BATCH_BYTES", 2**20)
    random = np.random.default_rng(7)
    texts = [random.bytes(500).hex() for _ in range(20_000)]
    table = pyarrow.table({"text": texts})
    read = corpus(tmp_path, table, row_group_size=20_000 // row_groups, use_dictionary=False)
    del table
    before, largest = pyarrow.total_allocated_bytes(), 0
    for _ in read.windows(whole=True):
        largest = max(largest, pyarrow.total_allocated_bytes() - before)
    assert (tmp_path / "texts.parquet").stat().st_size > 15_000_000
    assert largest < 2**23


@pytest.mark.parametrize(
    "value", [float("nan"), datetime.date(2024, 2, 29), b"bytes"], ids=["nan", "date", "bytes"]
)
def test_json_has_no_form_for_it(value: object, tmp_path: Path) -> None:
    """The row, the column and the value are named."""
    table = pyarrow.table({"text": ["a", "b"], "x": [None, value]})
    (read,) = corpus(tmp_path, table).windows(whole=True)
    with pytest.raises(InputError, match=r"row 2: column 'x' holds .*, for which JSON has no form"):
        list(read.objects())


def test_what_is_not_unicode_is_named_by_its_row(tmp_path: Path) -> None:
    """A Parquet writer may have checked nothing, so the reader names the row."""
    wrong = pyarrow.array([b"fine", b"\xff\xfe"], pyarrow.binary()).view(pyarrow.string())
    read = corpus(tmp_path, pyarrow.table({"text": wrong}))
    with pytest.raises(InputError, match="row 2: column 'text' is not valid Unicode; repair"):
        list(read.windows())
