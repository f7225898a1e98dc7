"""Corpora of texts: the suffix says the kind, rows come in windows, and progress is shown."""

from __future__ import annotations

import io
import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from polybake.base.texts import open_corpus, progress, text_lines, window
from polybake.base.texts.progress import tracked
from polybake.base.texts.window import ObjectWindow, cut
from polybake.errors import InputError, RequirementMissing


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a.txt", "TextLines"),
        ("a.JSONL", "JsonLines"),
        ("a.csv", "CsvFile"),
        ("a.parquet", "ParquetFile"),
    ],
)
def test_the_suffix_says_it(name: str, kind: str, tmp_path: Path) -> None:
    """Suffixes count in upper and lower case."""
    (tmp_path / name).touch()
    assert type(open_corpus(tmp_path / name)).__name__ == kind


@pytest.mark.parametrize("name", ["texts", "texts.json", "texts.txt.gz"])
def test_an_unknown_kind_names_the_choices(name: str, tmp_path: Path) -> None:
    """A compressed file would be read as texts without sense."""
    (tmp_path / name).touch()
    with pytest.raises(InputError, match=r"choose one of: \.txt, \.jsonl, \.csv, \.parquet, or pi"):
        open_corpus(tmp_path / name)


def test_what_is_no_regular_file_is_refused(tmp_path: Path) -> None:
    """A corpus is read more than once, so pipes are refused, as are folders and missing files."""
    (tmp_path / "folder.txt").mkdir()
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe.txt")
    for path in tmp_path.iterdir():
        with pytest.raises(InputError, match="is no regular file; give one, or pipe one text a li"):
            open_corpus(path)
    with pytest.raises(InputError, match=r"no\.txt: cannot be read \(no such file\); give a UTF-8"):
        open_corpus(tmp_path / "no.txt")


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_tables_need_pyarrow(suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing package is an error that names the extra; plain texts and JSON need none."""
    monkeypatch.delitem(sys.modules, "polybake.base.texts.tables", raising=False)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    (tmp_path / f"texts{suffix}").touch()
    needed = r'needs the package pyarrow; .* pip install "\.\[parquet\]", or give a UTF-8 file'
    with pytest.raises(RequirementMissing, match=needed):
        open_corpus(tmp_path / f"texts{suffix}")
    for name, line in (("a.txt", "a"), ("a.jsonl", '{"text": "a"}')):
        (tmp_path / name).write_text(line)
        assert [[*one.texts] for one in open_corpus(tmp_path / name).windows()] == [["a"]]


def read(content: bytes) -> list[str]:
    return [
        text_lines.without_break(line)
        for line in text_lines.text_lines(io.BytesIO(content), "texts.txt")
    ]


def test_only_line_breaks_end_a_line() -> None:
    """U+2028, form feeds and lone carriage returns end no line; the last line needs no break."""
    content = "one\n\n zwei \u2028\f Wörter\r\na\rb".encode()
    assert read(content) == ["one", "", " zwei \u2028\f Wörter", "a\rb"]


def test_a_byte_order_mark_is_no_text() -> None:
    """A byte order mark is dropped at the beginning of a file, and kept elsewhere."""
    assert read("\ufeffone\n\ufefftwo".encode()) == ["one", "\ufefftwo"]


def test_what_is_not_unicode_is_named_by_its_line() -> None:
    """The message holds the line and its first invalid byte."""
    with pytest.raises(
        InputError, match=r"texts\.txt: line 2 is not valid Unicode \(byte 3 of it is 0xff\); give"
    ):
        read(b"fine\nno\xff\nfine\n")


def test_a_line_without_an_end_is_not_read_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that is no text at all would fill the memory."""
    monkeypatch.setattr(text_lines, "LONGEST_LINE", 5)
    assert read(b"1234\n1234\n") == ["1234", "1234"]
    with pytest.raises(InputError, match="line 2 has more than 5 bytes; give one text a line"):
        read(b"1234\n123456\n")


def test_rows_have_one_column(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty line is the empty text, and lines are counted from 1."""
    monkeypatch.setattr(window, "MOST_ROWS", 2)
    path = tmp_path / "texts.txt"
    path.write_text('one\n\n"zwei" Wörter\n', encoding="utf-8")
    first, second = open_corpus(path, "body").windows()
    assert (first.texts, second.texts) == (["one", ""], ['"zwei" Wörter'])
    assert second.place(0) == "line 3"
    assert list(second.objects()) == ['{"body": "\\"zwei\\" Wörter"}']
    assert list(second.names) == ["body"]


def test_standard_input_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Standard input has no second pass, and messages call it by that name."""
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"one\ntwo")))
    corpus = open_corpus(Path("-"))
    assert (corpus.once, corpus.name) == (True, "standard input")
    (read,) = corpus.windows()
    assert read.texts == ["one", "two"]


def test_a_window_has_so_many_rows_and_characters(monkeypatch: pytest.MonkeyPatch) -> None:
    """A row that is too long stands alone, and none is lost."""
    monkeypatch.setattr(window, "MOST_ROWS", 3)
    monkeypatch.setattr(window, "MOST_CHARACTERS", 10)
    sizes = [1, 1, 1, 1, 5, 5, 30, 2, 10, 0]
    windows = list(cut(enumerate(sizes)))
    assert windows == [[0, 1, 2], [3, 4], [5], [6], [7], [8, 9]]
    assert list(cut([])) == []


def digest(*texts: str | None) -> str:
    return ObjectWindow(texts, range(len(texts))).digest()


def test_the_digest_is_of_each_text() -> None:
    """The digest tells where texts end, and an empty text from a missing one."""
    assert digest("ab", "c") == digest("ab", "c")
    others = [("a", "bc"), ("abc",), ("c", "ab"), ("ab", "c", ""), ("ab", "C"), ("ab1:c",)]
    assert len({digest(*texts) for texts in [("ab", "c"), *others]}) == len(others) + 1
    assert digest("") != digest(None)


def corpus(folder: Path, name: str, content: str) -> Any:
    path = folder / name
    path.write_bytes(content.encode("utf-8", "surrogateescape"))
    return open_corpus(path)


def test_every_value_of_csv_is_a_text(tmp_path: Path) -> None:
    """No identifier loses its zeros, and a value may span lines."""
    content = '\ufeffid,text\r\n007,"a, ""b""\nc"\r\n\r\n9,d'
    (read,) = corpus(tmp_path, "texts.csv", content).windows()
    assert read.texts == ['a, "b"\nc', "", "d"]
    assert [read.place(index) for index in range(3)] == ["row 2", "row 3", "row 4"]
    assert next(read.objects()) == '{"id": "007", "text": "a, \\"b\\"\\nc"}'
    read = corpus(tmp_path, "texts.csv", "id,text\n007,a\n")
    schema = read.schema()
    assert [str(kind) for kind in schema.types] == ["string", "string"]
    (rows,) = read.windows()
    assert rows.table(schema).to_pylist() == [{"id": "007", "text": "a"}]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", "id,body\n1,a", "has no column 'text'; choose one of: id, body"),
        ("a.csv", "", "has no column 'text'"),
        ("a.csv", "id,text,id\n1,a,2", "has 2 columns 'id'"),
        (
            "a.csv",
            "id,text\n1,a,b",
            r"cannot be read \(CSV parse error: Row #2: Expected 2 columns, got 3.*; put a value",
        ),
        ("a.csv", 'id,text\n1,a\n2,"b', "is not CSV, as one of its 1 quotes is not closed; put"),
        ("a.csv", "id,text\n1,\udcff", r"cannot be read \(.*Row #2: .*invalid UTF8"),
        ("a.jsonl", "{", "line 1: is not JSON .*; give one object a line, and no empty line"),
        ("a.jsonl", '{"text": "fine"}\n\n{"text": "fine"}', "line 2: is not JSON"),
        ("a.jsonl", "[" * 10**5, "line 1: is not JSON"),
        ("a.jsonl", '["a"]', "line 1: is no JSON object; give one with a 'text'"),
        ("a.jsonl", '{"body": "a", "id": 1}', "line 1: has no 'text'; choose one of: body, id"),
        ("a.jsonl", '{"text": 5}', "line 1: 'text' holds 5; expected a text"),
        ("a.jsonl", r'{"text": "\ud800"}', "line 1: 'text' is not valid Unicode"),
    ],
)
def test_what_is_wrong_is_named_by_its_line(
    name: str, content: str, message: str, tmp_path: Path
) -> None:
    """The message holds the file, the line and the remedy."""
    with pytest.raises(InputError, match=rf"{name}: {message}"):
        list(corpus(tmp_path, name, content).windows())


def of_lines(folder: Path, *lines: str) -> Any:
    return corpus(folder, "texts.jsonl", "\n".join(lines))


def test_rows_stay_as_they_are_written(tmp_path: Path) -> None:
    """Numbers keep their digits, and a text may be missing."""
    lines = ['{"id": 1.50, "text": "a\\u00e4"}', '  {"text":null, "n": 12345678901234567890 } \r']
    (read,) = of_lines(tmp_path, *lines).windows()
    assert read.texts == ("aä", None)
    assert list(read.objects()) == [line.strip() for line in lines]
    assert list(read.names) == ["id", "text", "n"]
    assert read.place(1) == "line 2"


def test_the_columns_are_those_of_all_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Columns come in the order of their first row, with types that hold every value."""
    pyarrow = pytest.importorskip("pyarrow")
    monkeypatch.setattr(window, "MOST_ROWS", 2)
    rows = [
        {"z": None, "text": "a", "n": 1},
        {"text": "b", "n": 2.5, "tags": []},
        {"text": "c", "tags": ["x"], "z": "late"},
    ]
    read = of_lines(tmp_path, *map(json.dumps, rows))
    schema = read.schema()
    assert schema.names == ["z", "text", "n", "tags"]
    assert [str(kind) for kind in schema.types][:3] == ["string", "string", "double"]
    table = pyarrow.concat_tables(one.table(schema) for one in read.windows())
    expected = [dict.fromkeys(schema.names) | row for row in rows]
    assert table.to_pylist() == expected


@pytest.mark.parametrize("value", ['"text"', "{}", "[1]", str(2**70)])
def test_values_of_several_types_are_refused(
    value: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A key with two types is refused, even if each window has only one of them."""
    pytest.importorskip("pyarrow")
    lines = ['{"text": "a", "n": 1}', f'{{"text": "b", "n": {value}}}']
    for rows in (1, 2):
        monkeypatch.setattr(window, "MOST_ROWS", rows)
        with pytest.raises(InputError, match=r"texts\.jsonl: line \d to 2: a key has .*; write"):
            of_lines(tmp_path, *lines).schema()


def test_no_rows_have_the_column_of_texts(tmp_path: Path) -> None:
    """An empty file is a table without rows."""
    pytest.importorskip("pyarrow")
    assert of_lines(tmp_path).schema().names == ["text"]


def shown(total: int | None, *, terminal: bool) -> str:
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=terminal, width=80)
    with tracked("embedding texts", total, console) as advance:
        for _ in range(10):
            advance(7)
    return stream.getvalue()


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if each batch took long enough for a line."""
    monkeypatch.setattr(progress, "_SECONDS", 0.0)


@pytest.mark.usefixtures("slow")
def test_plain_lines_where_there_is_no_terminal() -> None:
    """Each tenth of the work is one line, without control characters."""
    lines = shown(70, terminal=False).splitlines()
    assert lines == [f"embedding texts: {7 * done} of 70" for done in range(1, 11)]


@pytest.mark.usefixtures("slow")
def test_a_stream_shows_what_is_done() -> None:
    """A stream has no known end, so a line comes whenever the work done has doubled."""
    lines = shown(None, terminal=False).splitlines()
    assert lines == [f"embedding texts: {7 * n}" for n in (1, 2, 4, 8, 10)]
    assert "embedding texts: 70" in shown(None, terminal=True)
    assert "100%" in shown(70, terminal=True)


def test_short_work_is_one_line() -> None:
    """A log has no use for ten lines of one second."""
    assert shown(70, terminal=False) == "embedding texts: 70 of 70\n"
    assert shown(None, terminal=False) == "embedding texts: 70\n"


@pytest.mark.usefixtures("slow")
def test_threads_may_tell_it() -> None:
    """No batch is lost, and no line is told twice."""
    stream = io.StringIO()
    with (
        tracked("embedding texts", 2000, Console(file=stream)) as advance,
        ThreadPoolExecutor(8) as pool,
    ):
        list(pool.map(advance, [1] * 2000))
    lines = stream.getvalue().splitlines()
    assert lines == [f"embedding texts: {200 * n} of 2000" for n in range(1, 11)]


def test_a_bar_is_not_red() -> None:
    """Red says that something failed; rich's own bar is 249, 38, 114."""
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=True, color_system="truecolor", width=80)
    with tracked("embedding texts", 10, console) as advance:
        advance(5)
    assert "50%" in stream.getvalue()
    assert "249;38;114" not in stream.getvalue()
