"""What holds of every cluster: files of texts become files of vectors, and pages run."""

import os
import re
import shutil
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pytest
from pyarrow import parquet

import polybake
from polybake.errors import InputError

PAGE = Path(__file__).resolve().parents[3] / "docs/bulk.md"

#: Rows of the first file: several windows, so that a worker can be killed between two.
ROWS = 60_000

#: Seconds until some worker has come as far, on a machine that has other work.
PATIENCE = 120

TEXTS = [letter * count for count in range(1, 11) for letter in ("a", "b c ", "", "d, e.")]

#: Embeds files into a folder with a model, as ``embed_files`` of a cluster does.
EmbedFiles = Callable[[Sequence[Path], Path, Path], Any]


def write_files(folder: Path, count: int = 4) -> list[Path]:
    """Files of several kinds; with more than one, the first is large."""
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


def what_a_killed_worker_began_another_ends(
    embed_files: EmbedFiles, model: Path, folder: Path
) -> None:
    """Every row is there exactly once, and a second run embeds nothing."""
    files, out = write_files(folder), folder / "out"
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(embed_files, files, out, model)
        _kill_in_the_middle(out)
        done = running.result()
    assert not any(file.skipped for file in done)
    assert_whole(files, out, model)
    written = {path: path.stat().st_mtime_ns for path in out.iterdir()}
    again = embed_files(files, out, model)
    assert all(file.skipped for file in again)
    assert [file.rows for file in again] == [file.rows for file in done]
    assert {path: path.stat().st_mtime_ns for path in out.iterdir()} == written


def an_error_of_one_file_is_no_error_of_the_others(
    embed_files: EmbedFiles, model: Path, folder: Path
) -> None:
    """The other files are embedded, and the failing one is named."""
    (good,) = write_files(folder, 1)
    (folder / "bad.jsonl").write_text('{"text": null}\n')
    with pytest.raises(InputError, match=r"bad.jsonl: line 1: 'text' is null"):
        embed_files([folder / "bad.jsonl", good], folder / "out", model)
    assert_whole([good], folder / "out", model)


def _kill_in_the_middle(folder: Path) -> None:
    """Wait until a file below ``folder`` is begun and not whole, and kill who writes it."""
    for _ in range(PATIENCE * 100):
        for parts in folder.glob("*.parts"):
            if any(parts.glob("000000-*.parquet")) and (writer := next(_holders(parts), None)):
                os.kill(writer, signal.SIGKILL)
                return
        time.sleep(0.01)
    raise AssertionError(f"no worker began a file in {folder}")


def _holders(folder: Path) -> Iterator[int]:
    """The processes that have a folder open, as who writes parts has."""
    for process in Path("/proc").glob("[0-9]*"):
        if process.name == str(os.getpid()):
            continue
        with suppress(OSError):  # it has ended, or is somebody else's
            for handle in (process / "fd").iterdir():
                with suppress(OSError):
                    if handle.readlink() == folder:
                        yield int(process.name)
                        break


def programs(module: str) -> list[str]:
    """The programs of docs/bulk.md that import a module of polybake."""
    block = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
    return [code for code in block.findall(PAGE.read_text("utf-8")) if f"import {module}\n" in code]


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
