"""The programs of docs/bulk.md."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pyarrow
from pyarrow import parquet

PAGE = Path(__file__).resolve().parents[3] / "docs/bulk.md"


def programs(module: str) -> list[str]:
    """The programs of the page that import a module of polybake."""
    blocks = re.findall(
        r"^```python\n(.*?)^```$", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE
    )
    return [code for code in blocks if f"import {module}\n" in code]


def run(code: str, model: Path, folder: Path, **names: Any) -> None:
    """Run a program with a folder of two small files of texts in the place of /data.

    Its output must have a row for each text.
    """
    shutil.copy(model, folder / "m.onnx")
    (folder / "texts").mkdir()
    for number in range(2):
        table = pyarrow.table({"text": [f"{number} one", f"{number} two"]})
        parquet.write_table(table, folder / f"texts/{number}.parquet")
    exec(code.replace("/data/", f"{folder}/"), names)  # noqa: S102 - the page's own
    files = sorted((folder / "vectors").glob("*.parquet"))
    rows = [row for file in files for row in parquet.ParquetFile(file).read().to_pylist()]
    assert sorted(row["text"] for row in rows) == ["0 one", "0 two", "1 one", "1 two"]
    assert {len(row["embedding"]) for row in rows} == {7}
