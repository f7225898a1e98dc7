"""The texts of a large file."""

import hashlib
from pathlib import Path
from typing import Any

import pytest

from polybake.bulk.fit.corpus import Corpus
from polybake.errors import InputError

pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")


def table(path: Path, column: str | None = None, **columns: Any) -> Corpus:
    parquet.write_table(pyarrow.table(columns), path, row_group_size=2)
    return Corpus(path, column or "text")


def test_lines(tmp_path: Path) -> None:
    """Each line is a text; empty lines are left out, and only line breaks end a line."""
    path = tmp_path / "texts.txt"
    path.write_bytes("one\n\n zwei \u2028 Wörter\r\nthree".encode())
    assert list(Corpus(path)) == ["one", " zwei \u2028 Wörter", "three"]
    assert Corpus(path).sha256() == hashlib.sha256(path.read_bytes()).hexdigest()


def test_other_kinds(tmp_path: Path) -> None:
    """Every format that can be embedded can be fitted; empty and missing texts are left out."""
    texts = ["one", "", None, "zwei\nWörter"]
    corpus = table(tmp_path / "texts.parquet", "body", id=[1, 2, 3, 4], body=texts)
    assert list(corpus) == ["one", "zwei\nWörter"]
    (tmp_path / "a.jsonl").write_text('{"text": "one"}\n{"text": null}\n{"text": ""}\n')
    (tmp_path / "a.csv").write_text('text\none\n""\n')
    assert list(Corpus(tmp_path / "a.jsonl")) == list(Corpus(tmp_path / "a.csv")) == ["one"]


def damaged_page(path: Path) -> Corpus:
    corpus = table(path, text=["one two three four"] * 99)
    content = bytearray(path.read_bytes())
    content[4:40] = b"\xff" * 36
    path.write_bytes(content)
    return corpus


def file_of(content: bytes, name: str) -> Any:
    def write(path: Path) -> Corpus:
        path.with_name(name).write_bytes(content)
        return Corpus(path.with_name(name))

    return write


def two_columns(path: Path) -> Corpus:
    one = pyarrow.array(["one"])
    parquet.write_table(pyarrow.Table.from_arrays([one, one], names=["text", "text"]), path)
    return Corpus(path)


WRONG = pyarrow.array([b"\xff\xfe"], pyarrow.binary()).view(pyarrow.string())


@pytest.mark.parametrize(
    ("corpus", "shown"),
    [
        (lambda _: Corpus(Path("none.txt")), r"none\.txt: cannot be read .*; give a UTF-8 file"),
        (file_of(b"fine\n\xff\n", "a.txt"), r"a\.txt: line 2 is not valid Unicode .*UTF-8 file"),
        (file_of(b"PAR1 no", "a.parquet"), r"a\.parquet: cannot be read"),
        (lambda path: table(path, body=["a"]), "has no column 'text'; choose one of: body"),
        (lambda path: table(path, text=[1]), "column 'text' holds int64"),
        (damaged_page, r"t\.parquet: cannot be read .*; give a"),
        (lambda path: table(path, text=WRONG), "row 1: .* is not valid Unicode; repair"),
        (two_columns, "has 2 columns 'text'; write the file again with one"),
        (lambda _: Corpus(Path("-")), "read more than once to fit arrays to them; give a file"),
    ],
)
def test_names_what_cannot_be_read(corpus: Any, shown: str, tmp_path: Path) -> None:
    """In one line, with the remedy; standard input could be read only once."""
    with pytest.raises(InputError, match=shown) as caught:
        list(corpus(tmp_path / "t.parquet"))
    assert "\n" not in str(caught.value)
