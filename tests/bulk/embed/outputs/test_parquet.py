"""Vectors in a table."""

from __future__ import annotations

import datetime
import json
from pathlib import Path

import numpy as np
import pytest

from polybake.base.modelfile.manifest import Output
from polybake.base.texts import open_corpus, window
from polybake.errors import InputError
from support.bulk.written import written

pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

RECORD = {"model": {"name": "tiny"}}


@pytest.mark.parametrize("dtype", ["float32", "int8", "uint8"])
def test_the_columns_and_one_more(
    dtype: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Vectors are lists of fixed size, and the file keeps its columns and metadata."""
    monkeypatch.setattr(window, "MOST_ROWS", 2)
    folder = tmp_path / "year=2024"  # which Arrow's data sets would make a column of
    folder.mkdir()
    days = [datetime.date(2024, 2, day) for day in (1, 2, 3)]
    table = pyarrow.table({"text": ["a", "b", "c"], "day": days, "kind": ["x", None, "x"]})
    kinds = table["kind"].cast(pyarrow.dictionary(pyarrow.int8(), pyarrow.string()))
    table = table.set_column(2, "kind", kinds).replace_schema_metadata({"own": "note"})
    parquet.write_table(table, folder / "texts.parquet")
    vectors = np.arange(12).reshape(3, 4).astype(dtype)
    out = written(folder / "texts.parquet", vectors, ".parquet", RECORD)
    found = parquet.ParquetFile(out).read()
    assert found.column_names == ["text", "day", "kind", "embedding"]
    assert found.drop_columns("embedding").to_pylist() == table.to_pylist()
    kind = found.schema.field("embedding").type
    assert kind == pyarrow.list_(pyarrow.from_numpy_dtype(dtype), 4)
    assert found["embedding"].to_pylist() == vectors.tolist()
    assert found.schema.metadata[b"own"] == b"note"
    assert json.loads(found.schema.metadata[b"polybake.embed"]) == RECORD


def test_columns_that_parquet_has_not_are_refused(tmp_path: Path) -> None:
    """Such a column is refused before anything is embedded."""
    path = tmp_path / "texts.jsonl"
    path.write_text('{"text": "a", "empty": {}}\n')
    from polybake.bulk.embed.outputs.parquet import ParquetOutput

    with pytest.raises(InputError, match=r"texts\.jsonl: Parquet cannot hold .*; write \.jsonl"):
        ParquetOutput(open_corpus(path), Output(name="out", dimension=2))
