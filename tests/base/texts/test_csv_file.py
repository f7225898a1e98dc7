"""Corpora of comma-separated values."""

from __future__ import annotations

from pathlib import Path

import pytest

from polybake.base.texts.csv_file import CsvFile
from polybake.errors import InputError


def corpus(folder: Path, content: str) -> CsvFile:
    path = folder / "texts.csv"
    path.write_bytes(content.encode())
    return CsvFile(path)


def test_every_value_is_a_text(tmp_path: Path) -> None:
    """A value may span several lines; the row is counted by its first one."""
    content = '\ufeffid,text\r\n007,"a, ""b""\nc"\r\n8,\r\n9,d'
    (read,) = corpus(tmp_path, content).windows()
    assert read.texts == ['a, "b"\nc', "", "d"]
    assert [read.place(index) for index in range(3)] == ["line 2", "line 4", "line 5"]
    assert next(read.objects()) == '{"id": "007", "text": "a, \\"b\\"\\nc"}'


def test_its_columns_are_texts(tmp_path: Path) -> None:
    """Columns stay texts, so that no identifier loses its leading zeros."""
    pytest.importorskip("pyarrow")
    read = corpus(tmp_path, "id,text\n007,a\n")
    schema = read.schema()
    assert [str(kind) for kind in schema.types] == ["string", "string"]
    (window,) = read.windows()
    assert window.table(schema).to_pylist() == [{"id": "007", "text": "a"}]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("id,body\n1,a", "has no column 'text'; choose one of: id, body"),
        ("", "has no column 'text'"),
        ("id,text,id\n1,a,2", "has 2 columns 'id'; write the file again with one name a column"),
        ("id,text\n1,a\n\n", "line 3: has 0 values, expected 2"),
        ("id,text\n1,a,b", "line 2: has 3 values, expected 2, as many as the first line has names"),
        ('id,text\n1,a\n2,"b"c', "line 3: is not CSV .*; put a value with"),
        ('id,text\n1,a\n2,"b', "line 3: is not CSV"),
    ],
)
def test_what_is_no_table_is_named(content: str, message: str, tmp_path: Path) -> None:
    """The message holds the line and the remedy."""
    with pytest.raises(InputError, match=rf"texts\.csv: {message}"):
        list(corpus(tmp_path, content).windows())
