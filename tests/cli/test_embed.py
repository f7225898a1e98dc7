"""``polybake embed`` as a user calls it."""

from __future__ import annotations

import json
import os
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

pytestmark = pytest.mark.slow

TEXTS = ["one", "", "zwei \u2028 Wörter", "three, and four", '"five"']


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "texts.txt").write_text("\n".join(TEXTS) + "\n", encoding="utf-8")
    rows = [json.dumps({"id": i, "body": text}) for i, text in enumerate(TEXTS)]
    (tmp_path / "texts.jsonl").write_text("\n".join(rows))
    (tmp_path / "texts.csv").write_text('id,text\n007,"a, b"\n')
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
    assert other.returncode == 2
    assert "texts.sha256 was" in other.stderr
    assert {path: path.stat().st_mtime_ns for path in project.iterdir() if path.name == out} == {
        project / out: written[project / out]
    }


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
    done = run("embed", every_feed, "out.parquet", "--column", "body", "-o", "b.npy", cwd=project)
    assert done.returncode == 0, done.stderr
    assert np.load(project / "b.npy").shape == (5, 7)


def test_standard_input_to_lines(every_feed: Path, project: Path) -> None:
    """A pipe is as good as a file, and a name as good as --document."""
    outputs = []
    for arguments in (("--prompt", "document"), ("--document", "--force")):
        command = [sys.executable, "-m", "polybake.cli.main", "embed", every_feed, "-", *arguments]
        done = subprocess.run(
            [*command, "-o", "out.jsonl"],
            input=(project / "texts.txt").read_bytes(),
            capture_output=True,
            cwd=project,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert done.stderr == b"embedding texts: 5\n"
        outputs.append((project / "out.jsonl").read_bytes())
    assert outputs[0] == outputs[1]
    rows = [json.loads(line) for line in outputs[0].splitlines()]
    assert [row["text"] for row in rows] == TEXTS
    found = np.array([row["embedding"] for row in rows], np.float32)
    assert found == pytest.approx(vectors(every_feed, "document"), abs=1e-6)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["no.txt", "-o", "a.npy"], "no.txt: cannot be read (no such file); give a UTF-8 file"),
        (["texts.txt", "-o", "a.txt"], "a.txt: vectors are not written to such a file; choose"),
        (["texts.txt", "-o", "kept.npy"], "kept.npy: exists already; choose another output, or o"),
        (["texts.txt", "-o", "folder.npy", "--force"], "folder.npy: is a folder; choose another"),
        (["texts.txt"], "Missing option '--output'"),
        (["bad.txt", "-o", "a.npy"], "bad.txt: line 2 is not valid Unicode"),
        (["texts.jsonl", "-o", "a.npy"], "texts.jsonl: line 1: has no 'text'; choose one of: id,"),
        (["null.jsonl", "-o", "a.npy"], "null.jsonl: line 2: 'text' is null; expected a text; fi"),
        (["null.parquet", "-o", "a.npy"], "null.parquet: row 2: 'text' is null; expected a text"),
        (["null.parquet", "-o", "a.npy", "--column", "x"], "has no column 'x'; choose one of: tex"),
        (["done.jsonl", "-o", "a.jsonl"], "done.jsonl: has a column 'embedding' already; rename"),
        (["mixed.jsonl", "-o", "a.parquet"], "mixed.jsonl: line 1 to 2: a key has values that on"),
        (["texts.txt", "-o", "a.npy", "--prompt", "title"], "unknown prompt 'title'; choose one"),
        (["texts.txt", "-o", "a.npy", "--query", "--document"], "exclude each other; give one of"),
        (["texts.txt", "-o", "a.npy", "--threads", "0"], "--threads 0: expected 1 to"),
        (["texts.txt", "-o", "a.npy", "--device", "tpu"], "unknown device 'tpu'; choose one of"),
        (["texts.txt", "-o", "kept.npy/a.npy"], "kept.npy/a.npy.parts: cannot be made ("),
    ],
)
def test_wrong_input_writes_nothing(
    every_feed: Path, project: Path, arguments: list[str], message: str
) -> None:
    """One line names the value and the remedy, without a traceback."""
    parquet = pytest.importorskip("pyarrow.parquet")
    import pyarrow

    (project / "kept.npy").write_bytes(b"kept")
    (project / "folder.npy").mkdir()
    (project / "bad.txt").write_bytes(b"fine\nno\xff\n")
    (project / "null.jsonl").write_text('{"text": "a"}\n{"text": null}\n')
    parquet.write_table(pyarrow.table({"text": ["a", None]}), project / "null.parquet")
    (project / "done.jsonl").write_text('{"text": "a", "embedding": [1]}\n')
    (project / "mixed.jsonl").write_text('{"text": "a", "n": 1}\n{"text": "a", "n": "x"}\n')
    before = {path: path.is_file() and path.read_bytes() for path in project.rglob("*")}
    done = run("embed", every_feed, *arguments, cwd=project)
    assert done.returncode == 2, done.stdout + done.stderr
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert {path: path.is_file() and path.read_bytes() for path in project.rglob("*")} == before


def test_what_is_no_model_file_is_named(project: Path) -> None:
    """The model is checked before the texts are read."""
    done = run("embed", "texts.txt", "texts.txt", "-o", "out.npy", cwd=project)
    assert done.returncode == 2
    assert "polybake: texts.txt: has no polybake.manifest; write the file with" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "remedy"),
    [
        (["texts.txt", "-o", "a.parquet"], 'pip install ".[parquet]", or write .npy'),
        (["in.parquet", "-o", "a.npy"], 'pip install ".[parquet]", or give a UTF-8 file'),
    ],
)
def test_without_pyarrow(
    every_feed: Path, project: Path, arguments: list[str], remedy: str
) -> None:
    """Parquet names the extra and ends with 3; everything else works."""
    (project / "in.parquet").touch()
    code = (
        "import sys; sys.modules['pyarrow'] = None;"
        "sys.argv = ['polybake', 'embed', *sys.argv[1:]];"
        "import polybake.cli.main; polybake.cli.main.main()"
    )

    def call(*arguments: object) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", code, every_feed, *arguments]
        return subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)

    done = call(*arguments)
    assert (done.returncode, remedy in done.stderr) == (3, True), done.stderr
    for texts, out in (("texts.txt", "a.jsonl"), ("texts.csv", "b.npy"), ("texts.csv", "c.jsonl")):
        assert call(texts, "-o", out).returncode == 0
    assert json.loads((project / "c.jsonl").read_text())["id"] == "007"


@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_an_ended_run_goes_on(every_feed: Path, tmp_path: Path, ending: signal.Signals) -> None:
    """A run that was killed and started again gives the same bytes as one run."""
    lines = "".join(f"text number {number}\n" for number in range(100_000))
    (tmp_path / "texts.txt").write_text(lines)
    command = [sys.executable, "-m", "polybake.cli.main", "embed", every_feed, "texts.txt", "-o"]
    assert run(*command[3:], "whole.npy", cwd=tmp_path).returncode == 0
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
    assert process.returncode == (-ending if ending == signal.SIGKILL else 128 + ending)
    assert 3 <= kept < 13
    if ending != signal.SIGKILL:
        assert f"{kept} parts are kept in out.npy.parts; the same command goes on" in told
    assert not (tmp_path / "out.npy").exists()
    done = run(*command[3:], "out.npy", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith(f"going on after the {kept} parts in out.npy.parts\n")
    assert (tmp_path / "out.npy").read_bytes() == (tmp_path / "whole.npy").read_bytes()
    assert sorted(os.listdir(tmp_path)) == [  # noqa: PTH208 - names alone
        "out.npy",
        "out.npy.json",
        "texts.txt",
        "whole.npy",
        "whole.npy.json",
    ]
