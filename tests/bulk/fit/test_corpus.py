"""The texts of a large file."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from polybake.bulk.fit.corpus import Corpus
from polybake.errors import InputError


def test_lines(tmp_path: Path) -> None:
    """Each line is a text; empty lines are left out, and only line breaks end a line."""
    path = tmp_path / "texts.txt"
    path.write_bytes("one\n\n zwei \u2028 Wörter\r\nthree".encode())
    assert list(Corpus(path)) == ["one", " zwei \u2028 Wörter", "three"]
    assert Corpus(path).sha256() == hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize(
    ("content", "fault"),
    [(None, r"cannot be read .*"), (b"fine\n\xff\n", "line 2 is not valid Unicode .*")],
)
def test_names_an_unreadable_file(content: bytes | None, fault: str, tmp_path: Path) -> None:
    """A missing file and one that is not UTF-8 are errors with the remedy."""
    path = tmp_path / "texts.txt"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError, match=rf"texts\.txt: {fault}; give a UTF-8 file"):
        list(Corpus(path))


def test_parquet(tmp_path: Path) -> None:
    """The texts of one column are given, without empty and missing ones."""
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "texts.parquet"
    texts = ["one", "", None, "zwei\nWörter"]
    parquet.write_table(pyarrow.table({"id": [1, 2, 3, 4], "body": texts}), path, row_group_size=2)
    assert list(Corpus(path, "body")) == ["one", "zwei\nWörter"]
    with pytest.raises(InputError, match=r"has no column 'text'; choose one of: id, body"):
        list(Corpus(path))
    with pytest.raises(InputError, match="column 'id' holds int64"):
        list(Corpus(path, "id"))
    path.write_bytes(b"PAR1 no")
    with pytest.raises(InputError, match=r"texts\.parquet: cannot be read"):
        list(Corpus(path, "body"))


def test_names_a_damaged_parquet_file(tmp_path: Path) -> None:
    """A page that cannot be unpacked and a text that is not UTF-8 are errors with the remedy."""
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    page, text = tmp_path / "page.parquet", tmp_path / "text.parquet"
    parquet.write_table(pyarrow.table({"text": ["one two three four"] * 99}), page)
    content = bytearray(page.read_bytes())
    content[4:40] = b"\xff" * 36
    page.write_bytes(content)
    wrong = pyarrow.array([b"\xff\xfe"], pyarrow.binary()).view(pyarrow.string())
    parquet.write_table(pyarrow.table({"text": wrong}), text)
    faults = {page: "cannot be read .*; give a", text: "row 1: .* is not valid Unicode; repair"}
    for path, fault in faults.items():
        with pytest.raises(InputError, match=rf"{path.name}: {fault}") as caught:
            list(Corpus(path))
        assert "\n" not in str(caught.value)


def test_two_columns_of_one_name(tmp_path: Path) -> None:
    """A file with two text columns of one name is ambiguous, and refused."""
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    table = pyarrow.Table.from_arrays([pyarrow.array(["one"])] * 2, names=["text", "text"])
    parquet.write_table(table, tmp_path / "texts.parquet")
    with pytest.raises(InputError, match="has 2 columns 'text'; write the file again with one"):
        list(Corpus(tmp_path / "texts.parquet"))


@pytest.mark.parametrize(
    ("name", "content"),
    [("a.jsonl", '{"text": "one"}\n{"text": null}\n{"text": ""}\n'), ("a.csv", 'text\none\n""\n')],
)
def test_other_kinds(name: str, content: str, tmp_path: Path) -> None:
    """Every format that can be embedded can be fitted; empty and missing texts are left out."""
    (tmp_path / name).write_text(content)
    assert list(Corpus(tmp_path / name)) == ["one"]


def test_standard_input_is_refused() -> None:
    """Standard input could be read only once."""
    with pytest.raises(InputError, match="read more than once to fit arrays to them; give a file"):
        list(Corpus(Path("-")))
