"""Lines of UTF-8."""

from __future__ import annotations

import io

import pytest

from polybake.base.texts import lines
from polybake.base.texts.lines import text_lines, without_break
from polybake.errors import InputError


def read(content: bytes) -> list[str]:
    return [without_break(line) for line in text_lines(io.BytesIO(content), "texts.txt")]


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
    monkeypatch.setattr(lines, "LONGEST_LINE", 5)
    assert read(b"1234\n1234\n") == ["1234", "1234"]
    with pytest.raises(InputError, match="line 2 has more than 5 bytes; give one text a line"):
        read(b"1234\n123456\n")
