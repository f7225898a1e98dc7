"""``polybake embed`` as a user calls it."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from polybake import __version__
from polybake.base.modelfile.container import read_head
from polybake.runtime.embedder import Embedder
from support.processes.commandline import run
from support.processes.signals import signals
from support.samples.weekly import weekly_but

pytestmark = pytest.mark.slow

TEXTS = ["one", "", "zwei \u2028 Wörter", "three, and four", '"five"']


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "texts.txt").write_text("\n".join(TEXTS) + "\n", encoding="utf-8")
    rows = [json.dumps({"id": i, "body": text}) for i, text in enumerate(TEXTS)]
    (tmp_path / "texts.jsonl").write_text("\n".join(rows))
    return tmp_path


def vectors(model: Path, prompt: str | None = None) -> np.ndarray:
    return Embedder(model).embed(TEXTS, prompt=prompt)


def test_texts_to_an_array(every_feed: Path, project: Path) -> None:
    """The output says what was written, and a record stands beside the array."""
    done = run("embed", every_feed, "texts.txt", "-o", "new/out.npy", cwd=project)
    assert done.returncode == 0, done.stderr
    fingerprint = read_head(every_feed).manifest.fingerprint
    assert done.stdout == (
        "embedded 5 texts in new/out.npy: float32 [5, 7], no prompt, "
        f"fingerprint {fingerprint[:16]}\n"
    )
    assert done.stderr == "embedding texts: 5 of 5\n"
    assert np.load(project / "new/out.npy") == pytest.approx(vectors(every_feed), abs=1e-6)
    assert {path.name for path in (project / "new").iterdir()} == {"out.npy", "out.npy.json"}


@pytest.mark.parametrize("out", ["out.npy", "out.jsonl", "out.parquet"])
def test_a_finished_command_is_done_again_at_once(
    every_feed: Path, project: Path, out: str
) -> None:
    """A job that is tried again succeeds; one with other texts or another prompt is refused."""
    first = run("embed", every_feed, "texts.txt", "-o", out, cwd=project)
    written = {path: path.stat().st_mtime_ns for path in project.iterdir()}
    again = run("embed", every_feed, "texts.txt", "-o", out, cwd=project)
    assert (again.returncode, again.stdout) == (0, first.stdout)
    assert again.stderr == f"{out} holds these vectors already\n"
    assert {path: path.stat().st_mtime_ns for path in project.iterdir()} == written
    other = run("embed", every_feed, "texts.txt", "-o", out, "--query", cwd=project)
    assert other.returncode == 2
    assert f"{out}: exists already, with other vectors: model.prompt was null" in other.stderr
    (project / "texts.txt").write_text("another\n")
    other = run("embed", every_feed, "texts.txt", "-o", out, cwd=project)
    assert (other.returncode, "texts.sha256 was" in other.stderr) == (2, True)
    assert (project / out).stat().st_mtime_ns == written[project / out]


def test_a_table_to_a_table(every_feed: Path, project: Path) -> None:
    """The other columns come along; the record is in the file."""
    parquet = pytest.importorskip("pyarrow.parquet")
    arguments = ("--column", "body", "--query", "--json", "-o", "out.parquet")
    done = run("embed", every_feed, "texts.jsonl", *arguments, cwd=project)
    assert done.returncode == 0, done.stderr
    table = parquet.read_table(project / "out.parquet")
    assert table.column_names == ["id", "body", "embedding"]
    assert table["id"].to_pylist() == list(range(5))
    assert table["body"].to_pylist() == TEXTS
    found = np.array(table["embedding"].to_pylist(), np.float32)
    assert found == pytest.approx(vectors(every_feed, "query"), abs=1e-6)
    record = json.loads(table.schema.metadata[b"polybake.embed"])
    assert record == json.loads(done.stdout)
    assert record["model"]["fingerprint"] == read_head(every_feed).manifest.fingerprint
    assert (record["model"]["prompt"], record["polybake"]) == ("query", __version__)


def test_standard_input_to_lines(every_feed: Path, project: Path) -> None:
    """A pipe is as good as a file, and a name as good as --document."""
    for arguments in (("--prompt", "document"), ("--document",)):
        command = ("embed", every_feed, "-", *arguments, "-o", "out.jsonl", "--force")
        done = run(*command, cwd=project, stdin=(project / "texts.txt").read_bytes())
        assert (done.returncode, done.stderr) == (0, "embedding texts: 5\n")
    rows = [json.loads(line) for line in (project / "out.jsonl").read_bytes().splitlines()]
    assert [row["text"] for row in rows] == TEXTS
    found = np.array([row["embedding"] for row in rows], np.float32)
    assert found == pytest.approx(vectors(every_feed, "document"), abs=1e-6)


@pytest.fixture(scope="module")
def whole(every_feed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with many texts and their vectors, which were embedded at once."""
    folder = tmp_path_factory.mktemp("whole")
    lines = "".join(f"text number {number}\n" for number in range(50_000))
    (folder / "texts.txt").write_text(lines)
    assert run("embed", every_feed, "texts.txt", "-o", "out.npy", cwd=folder).returncode == 0
    return folder


@pytest.mark.parametrize("name", weekly_but(1, signals("SIGTERM", "SIGKILL", "SIGINT")))
def test_an_ended_run_goes_on(every_feed: Path, whole: Path, tmp_path: Path, name: str) -> None:
    """A run that was killed and started again gives the same bytes as one run."""
    ending = getattr(signal, name)
    shutil.copy(whole / "texts.txt", tmp_path)
    command = [sys.executable, "-m", "polybake.cli.main", "embed", every_feed, "texts.txt", "-o"]
    process = subprocess.Popen(
        [*command, "out.npy"],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL) and None,
    )
    parts = tmp_path / "out.npy.parts"
    while process.poll() is None and len([*parts.glob("0*.npy")]) < 3:
        time.sleep(0.01)
    process.send_signal(ending)
    _, told = process.communicate(timeout=60)
    kept = len([*parts.glob("0*.npy")])
    assert process.returncode == (-ending if name == "SIGKILL" else 128 + ending)
    assert 3 <= kept < 7
    if name != "SIGKILL":
        assert f"{kept} parts are kept in out.npy.parts; the same command goes on" in told
    assert not (tmp_path / "out.npy").exists()
    done = run(*command[3:], "out.npy", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith(f"going on after the {kept} parts in out.npy.parts\n")
    assert (tmp_path / "out.npy").read_bytes() == (whole / "out.npy").read_bytes()
    assert not parts.exists()
