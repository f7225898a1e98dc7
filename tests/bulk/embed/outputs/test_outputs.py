"""The suffix of an output decides how vectors are written."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from polybake.bulk.embed.outputs import output_for
from polybake.errors import InputError, RequirementMissing


def test_the_suffix_says_it() -> None:
    """Suffixes count in upper and lower case; an unknown one names the choices."""
    assert output_for(Path("a.NPY")).__name__ == "NpyOutput"
    assert output_for(Path("a.jsonl")).__name__ == "JsonLinesOutput"
    with pytest.raises(InputError, match=r"a\.txt: .*; choose one of: \.parquet, \.npy, \.jsonl"):
        output_for(Path("a.txt"))


def test_parquet_needs_pyarrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing package is an error that names the extra, and the formats that need none."""
    monkeypatch.delitem(sys.modules, "polybake.bulk.embed.outputs.parquet", raising=False)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    needed = r'needs the package pyarrow; .* pip install "\.\[parquet\]", or write \.npy or \.js'
    with pytest.raises(RequirementMissing, match=needed):
        output_for(Path("a.parquet"))
