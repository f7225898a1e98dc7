"""Corpora with one text a line."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from polybake.base.texts import open_corpus, window


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
