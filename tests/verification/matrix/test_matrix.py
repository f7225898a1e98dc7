"""The judge in every combination."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from faulty.subject import SubjectFiles
from polybake.config import MatrixTable
from polybake.errors import InputError
from polybake.verification.harness.harness_file import Client, find_clients
from polybake.verification.matrix.matrix import run_matrix
from polybake.verification.matrix.matrix_report import MatrixReport

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="taskset, which limits threads, is Linux's"),
]


@pytest.fixture
def clients(subject: SubjectFiles, tmp_path: Path) -> list[Client]:
    """Python passes, node gives one number that is off."""
    subject.write_client(tmp_path / "clients" / "python", language="python")
    subject.write_client(tmp_path / "clients" / "node", "OneFloatOff", language="node")
    return list(find_clients(tmp_path / "clients"))


def break_prepare(client: Client, script: str) -> None:
    path = client.folder / "harness.json"
    prepare = {"prepare": [[sys.executable, "-S", "-c", script]]}
    path.write_text(json.dumps(json.loads(path.read_text()) | prepare))


def judged(
    subject: SubjectFiles, clients: list[Client], folder: Path, *languages: str, **fields
) -> MatrixReport:
    tables = [MatrixTable(language=language, threads=(1,)) for language in languages]
    return run_matrix([subject.model] * 2, clients, tables, folder / "matrix", **fields)


def test_every_model_is_judged_in_every_row(
    subject: SubjectFiles, clients: list[Client], tmp_path: Path
) -> None:
    """Each cell has all verdicts of the judge, its row the client's versions; one fails all."""
    told: list[str] = []
    report = judged(subject, clients, tmp_path, "python", "node", progress=told.append)
    row, _ = report.rows
    assert row.versions is not None
    found = [(cell.status, cell.executed, cell.difference) for cell in row.cells]
    assert found == [("pass", 14, 0.0)] * 2
    assert [cell.status for cell in report.cells] == ["pass", "pass", "fail", "fail"]
    assert report.cells[2].telling.message.startswith("row ")
    assert report.exit_code() == 1
    assert told[0] == "python on cpu, threads 1: installs"
    assert len(told) == 6


def test_what_cannot_be_installed_is_a_status(
    subject: SubjectFiles, clients: list[Client], tmp_path: Path
) -> None:
    """The rows after it are judged; where the language is required, that is exit code 3."""
    break_prepare(clients[0], "1/0")
    fixed = list(find_clients(tmp_path / "clients"))
    report = judged(subject, fixed, tmp_path, "node", "python")
    assert [cell.status for cell in report.cells] == [
        "missing-toolchain", "missing-toolchain", "pass", "pass",
    ]  # fmt: skip
    assert report.exit_code() == 0
    required = judged(subject, fixed, tmp_path, "node", "python", require=["node"])
    assert required.exit_code() == 3
    assert "ZeroDivisionError" in required.missing[0]
    assert judged(subject, fixed, tmp_path, "node").exit_code() == 1


@pytest.mark.skipif(sys.platform != "linux", reason="taskset, which limits threads, is Linux's")
def test_rows_of_one_environment_install_it_once(
    subject: SubjectFiles, clients: list[Client], tmp_path: Path
) -> None:
    """A failing installation, which may take minutes, is not repeated either."""
    break_prepare(clients[0], "open('tries', 'a').write('x'); 1/0")
    tables = [MatrixTable(language="node", threads=(1, len(os.sched_getaffinity(0)), 9999))]
    report = run_matrix(
        [subject.model], find_clients(tmp_path / "clients"), tables, tmp_path / "matrix"
    )
    assert {cell.status for cell in report.cells} == {"missing-toolchain"}
    assert (tmp_path / "matrix" / "node-cpu" / "tries").read_text() == "x"


@pytest.mark.usefixtures("clients")
@pytest.mark.parametrize(
    ("language", "change", "says"),
    [
        ("go", {}, "'go': there is no client of it; choose among: node, p"),
        ("ruby", {"instructions": ("Haswell",)}, "ruby with "),
        ("ruby", {"runtimes": ("1.30.0",)}, "ruby with "),
        ("python", {"model": "none.onnx"}, r"none\.onnx"),
    ],
)
def test_what_is_impossible_is_refused_first(
    subject: SubjectFiles,
    tmp_path: Path,
    language: str,
    change: dict[str, Any],
    says: str,
) -> None:
    """It is named before any other row is installed."""
    subject.write_client(tmp_path / "clients" / "ruby", language="ruby")
    models = [Path(change.pop("model", subject.model))]
    tables = [MatrixTable(language="python"), MatrixTable(language=language, **change)]
    with pytest.raises(InputError, match=says):
        run_matrix(models, find_clients(tmp_path / "clients"), tables, tmp_path / "matrix")
    assert not (tmp_path / "matrix").exists()
