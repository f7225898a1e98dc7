"""Files of texts for a cluster, and the check of the vectors made from them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import polybake

#: Rows of the first file: several windows, so that a worker can be killed between two.
ROWS = 60_000


def write_files(folder: Path, count: int = 4) -> list[Path]:
    """Files of several kinds; with more than one, the first is large."""
    import pyarrow
    from pyarrow import parquet

    files = []
    for number in range(count):
        rows = ROWS if count > 1 and number == 0 else 10 + number
        texts = [f"{number} {row % 997}" for row in range(rows)]
        file = folder / f"file{number}{'.parquet' if number % 2 == 0 else '.txt'}"
        if file.suffix == ".txt":
            file.write_text("\n".join(texts))
        else:
            parquet.write_table(pyarrow.table({"id": range(rows), "text": texts}), file)
        files.append(file)
    return files


def assert_whole(files: Sequence[Path], out: Path, model: Path) -> None:
    """Each file of texts has one of vectors, with every text once and in order."""
    from pyarrow import parquet

    assert {path.name for path in out.iterdir()} == {f"{file.stem}.parquet" for file in files}
    embedder = polybake.Embedder(model)
    for file in files:
        found = parquet.ParquetFile(out / f"{file.stem}.parquet").read()
        if file.suffix == ".txt":
            texts = file.read_text().splitlines()
        else:
            texts = parquet.ParquetFile(file).read()["text"].to_pylist()
        assert found["text"].to_pylist() == texts
        vectors = found["embedding"].combine_chunks().flatten().to_numpy()
        distinct = {text: place for place, text in enumerate(texts)}
        expected = dict(zip(distinct, embedder.embed([*distinct]), strict=True))
        wanted = np.stack([expected[text] for text in texts])
        assert vectors.reshape(wanted.shape) == pytest.approx(wanted, abs=1e-6)
