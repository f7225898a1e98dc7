"""The suffix of a corpus decides how it is read."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from polybake.base.texts import open_corpus
from polybake.errors import InputError, RequirementMissing


@pytest.mark.parametrize(
    ("name", "kind"), [("a.txt", "TextLines"), ("a.JSONL", "JsonLines"), ("a.csv", "CsvFile")]
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
    os.mkfifo(tmp_path / "pipe.txt")
    (tmp_path / "folder.txt").mkdir()
    for name in ("pipe.txt", "folder.txt"):
        with pytest.raises(InputError, match="is no regular file; give one, or pipe one text a li"):
            open_corpus(tmp_path / name)
    with pytest.raises(InputError, match=r"no\.txt: cannot be read \(no such file\); give a UTF-8"):
        open_corpus(tmp_path / "no.txt")


def test_parquet_needs_pyarrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing package is an error that names the extra, and the formats that need none."""
    monkeypatch.delitem(sys.modules, "polybake.base.texts.parquet_file", raising=False)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    (tmp_path / "texts.parquet").touch()
    needed = r'needs the package pyarrow; .* pip install "\.\[parquet\]", or give a UTF-8 file'
    with pytest.raises(RequirementMissing, match=needed):
        open_corpus(tmp_path / "texts.parquet")
