"""polybake matrix: what polybake.toml decides, and where results are written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from faulty.subject import SubjectFiles
from support.processes.commandline import polybake, run

pytestmark = pytest.mark.slow


@pytest.fixture
def project(subject: SubjectFiles, tmp_path: Path) -> Path:
    """A folder with one client of two, where polybake.toml says."""
    subject.write_client(tmp_path / "here", language="python")
    (tmp_path / "polybake.toml").write_text(
        f'[model]\nname = "tiny-model"\nsource = "none"\noutput = "{subject.model}"\n'
        '[clients.python]\noutput = "here"\n[clients.ruby]\noutput = "not generated"\n'
        '[[verify.matrix]]\nlanguage = "python"\nthreads = [1]\n'
    )
    return tmp_path


def test_the_table_is_printed_and_written(project: Path) -> None:
    """Environments lie beside the file, whatever folder one stands in."""
    (project / "elsewhere").mkdir()
    printed = polybake(
        "matrix", "../polybake.toml", "--markdown", "matrix.md", cwd=project / "elsewhere"
    )
    assert "1 of 1 cells passed" in printed
    assert "| PASS 0.0e+00 |" in (project / "elsewhere" / "matrix.md").read_text()
    assert [path.name for path in (project / "build" / "matrix").iterdir()] == ["python-cpu"]
    assert not (project / "elsewhere" / "build").exists()


def test_json_is_all_that_is_printed(project: Path, subject: SubjectFiles) -> None:
    """Each --model is a column of its own."""
    options = ["--json", "--model", subject.model, "--model", subject.model, "--folder", "there"]
    done = run("matrix", *options, cwd=project)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(json.loads(done.stdout)["rows"][0]["cells"]) == 2
    assert (project / "there" / "python-cpu").is_dir()
    assert not (project / "build").exists()


def test_a_file_without_a_matrix_says_what_to_add(project: Path) -> None:
    """An empty matrix runs nothing and must not pass."""
    text = (project / "polybake.toml").read_text()
    (project / "polybake.toml").write_text(text.partition("[[verify.matrix]]")[0])
    printed = polybake("matrix", cwd=project, code=2)
    assert "polybake.toml: has no [[verify.matrix]]; add one, see docs/matrix.md" in printed


def test_a_missing_language_that_is_required_is_exit_code_3(project: Path) -> None:
    """The exit code is 3, as for verify."""
    assert "MISSING ruby is required" in polybake(
        "matrix", "--require", "ruby", cwd=project, code=3
    )
