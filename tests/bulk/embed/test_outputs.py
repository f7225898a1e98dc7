"""How vectors are written, which the suffix of an output decides."""

import datetime
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from polybake.base.modelfile.manifest import Output
from polybake.base.texts import open_corpus, window
from polybake.bulk.embed.outputs import output_for
from polybake.errors import InputError, RequirementMissing

pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

RECORD = {"model": {"name": "tiny"}, "texts": {"rows": 3}}
LINES = ['{"text": "a", "n": 1.50}', '{"text": "{}", "x": {"y": []} }', '{"text": "\\u00e4"}']


@pytest.fixture(autouse=True)
def small_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(window, "MOST_ROWS", 2)


def written(corpus: Path, vectors: np.ndarray, suffix: str) -> Path:
    """The file of all rows, two in a part."""
    source = open_corpus(corpus)
    contract = Output(name="out", dtype=str(vectors.dtype), dimension=vectors.shape[1])
    out = corpus.with_name(f"out{suffix}")
    output, parts = output_for(out)(source, contract), []
    for number, rows in enumerate(source.windows(whole=output.carries)):
        parts.append(corpus.with_name(f"{number}{suffix}"))
        first = rows.places[0] - 1
        with parts[-1].open("wb") as file:
            output.write_part(file, rows, vectors[first : first + len(rows)])
    with out.open("wb") as file:
        output.join(file, parts, RECORD)
    return out


def test_a_line_of_json_gets_its_vector(tmp_path: Path) -> None:
    """The vector is added behind a row's other keys, of which no character changes."""
    (tmp_path / "texts.jsonl").write_text("\n".join(LINES))
    vectors = np.arange(6).reshape(3, 2).astype(np.int8)
    assert written(tmp_path / "texts.jsonl", vectors, ".jsonl").read_text().splitlines() == [
        f'{line[:-1]}, "embedding": [{a}, {b}]}}'
        for line, (a, b) in zip(LINES, vectors, strict=True)
    ]


def test_every_float_comes_back_from_json(tmp_path: Path) -> None:
    """The digits written give back every finite float32, bit for bit."""
    bits = np.random.default_rng(7).integers(0, 2**32, 4000, np.uint32)
    floats = bits.view(np.float32)
    vectors = floats[np.isfinite(floats)][:3900].reshape(3, 1300)
    (tmp_path / "texts.txt").write_text("a\nb\nc")
    out = written(tmp_path / "texts.txt", vectors, ".jsonl")
    found = [json.loads(line)["embedding"] for line in out.read_text().splitlines()]
    assert np.array(found, np.float32).tobytes() == vectors.tobytes()


@pytest.mark.parametrize("dtype", ["float32", "int8", "uint8"])
def test_the_columns_of_parquet_and_one_more(dtype: str, tmp_path: Path) -> None:
    """Vectors are lists of fixed size, the file keeps its columns; of .npy they are one array."""
    folder = tmp_path / "year=2024"  # which Arrow's data sets would make a column of
    folder.mkdir()
    days = [datetime.date(2024, 2, day) for day in (1, 2, 3)]
    table = pyarrow.table({"text": ["a", "b", "c"], "day": days, "kind": ["x", None, "x"]})
    kinds = table["kind"].cast(pyarrow.dictionary(pyarrow.int8(), pyarrow.string()))
    table = table.set_column(2, "kind", kinds).replace_schema_metadata({"own": "note"})
    parquet.write_table(table, folder / "texts.parquet")
    vectors = np.arange(12).reshape(3, 4).astype(dtype)
    found = parquet.ParquetFile(written(folder / "texts.parquet", vectors, ".parquet")).read()
    assert found.column_names == ["text", "day", "kind", "embedding"]
    assert found.drop_columns("embedding").to_pylist() == table.to_pylist()
    kind = found.schema.field("embedding").type
    assert kind == pyarrow.list_(pyarrow.from_numpy_dtype(dtype), 4)
    assert found["embedding"].to_pylist() == vectors.tolist()
    assert found.schema.metadata[b"own"] == b"note"
    assert json.loads(found.schema.metadata[b"polybake.embed"]) == RECORD
    array = np.load(written(folder / "texts.parquet", vectors, ".npy"), mmap_mode="r")
    assert array.dtype == dtype
    assert (array == vectors).all()


def test_another_suffix_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Suffixes count in upper and lower case; Parquet's needs a package, which is named."""
    assert output_for(Path("a.NPY")).__name__ == "NpyOutput"
    with pytest.raises(InputError, match=r"a\.txt: .*; choose one of: \.parquet, \.npy, \.jsonl"):
        output_for(Path("a.txt"))
    monkeypatch.delitem(sys.modules, "polybake.bulk.embed.outputs.parquet", raising=False)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    needed = r'needs the package pyarrow; .* pip install "\.\[parquet\]", or write \.npy or \.js'
    with pytest.raises(RequirementMissing, match=needed):
        output_for(Path("a.parquet"))


def test_columns_that_parquet_has_not_are_refused(tmp_path: Path) -> None:
    """Such a column is refused before anything is embedded."""
    path = tmp_path / "texts.jsonl"
    path.write_text('{"text": "a", "empty": {}}\n')
    output: Any = output_for(Path("out.parquet"))
    with pytest.raises(InputError, match=r"texts\.jsonl: Parquet cannot hold .*; write \.jsonl"):
        output(open_corpus(path), Output(name="out", dimension=2))
