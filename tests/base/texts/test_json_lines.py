"""Corpora with one JSON object a line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from polybake.base.texts import window
from polybake.base.texts.json_lines import JsonLines
from polybake.errors import InputError


def corpus(folder: Path, *lines: str) -> JsonLines:
    path = folder / "texts.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8", newline="")
    return JsonLines(path)


def test_rows_stay_as_they_are_written(tmp_path: Path) -> None:
    """Numbers keep their digits, and a text may be missing."""
    lines = ['{"id": 1.50, "text": "a\\u00e4"}', '  {"text":null, "n": 12345678901234567890 } \r']
    (read,) = corpus(tmp_path, *lines).windows()
    assert read.texts == ("aä", None)
    assert list(read.objects()) == [line.strip() for line in lines]
    assert list(read.names) == ["id", "text", "n"]
    assert read.place(1) == "line 2"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "line 2: is not JSON .*; give one object a line, and no empty line"),
        ("", "line 2: is not JSON"),
        ("[" * 10**5, "line 2: is not JSON"),
        ('["a"]', "line 2: is no JSON object; give one with a 'text'"),
        ('{"body": "a", "id": 1}', "line 2: has no 'text'; choose one of: body, id"),
        ('{"text": 5}', "line 2: 'text' holds 5; expected a text"),
        (r'{"text": "\ud800"}', "line 2: 'text' is not valid Unicode.*; repair or drop the line"),
    ],
)
def test_a_wrong_line_is_named(line: str, message: str, tmp_path: Path) -> None:
    """The message holds the line's number and what was expected."""
    with pytest.raises(InputError, match=rf"texts\.jsonl: {message}"):
        list(corpus(tmp_path, '{"text": "fine"}', line, '{"text": "fine"}').windows())


def test_the_columns_are_those_of_all_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Columns come in the order of their first row, with types that hold every value."""
    pyarrow = pytest.importorskip("pyarrow")
    monkeypatch.setattr(window, "MOST_ROWS", 2)
    rows = [
        {"z": None, "text": "a", "n": 1},
        {"text": "b", "n": 2.5, "tags": []},
        {"text": "c", "tags": ["x"], "z": "late"},
    ]
    read = corpus(tmp_path, *map(json.dumps, rows))
    schema = read.schema()
    assert schema.names == ["z", "text", "n", "tags"]
    assert [str(kind) for kind in schema.types][:3] == ["string", "string", "double"]
    table = pyarrow.concat_tables(window.table(schema) for window in read.windows())
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
            corpus(tmp_path, *lines).schema()


def test_no_rows_have_the_column_of_texts(tmp_path: Path) -> None:
    """An empty file is a table without rows."""
    pytest.importorskip("pyarrow")
    assert corpus(tmp_path).schema().names == ["text"]
