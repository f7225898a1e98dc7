"""``polybake bench`` as a user calls it."""

from __future__ import annotations

from pathlib import Path

import pytest

from polybake.study.bench.figures import Figures
from support.clients.plain_client import write_plain_client
from support.processes.commandline import polybake, run

pytestmark = pytest.mark.slow


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "texts.txt").write_text("one\ntwo words\n")
    write_plain_client(tmp_path / "right" / "plain")
    write_plain_client(tmp_path / "wrong" / "plain", "one-element")
    return tmp_path


OWN = ("--texts", "texts.txt", "--rounds", "1")


def test_a_table_and_nothing_else(every_feed: Path, project: Path) -> None:
    """No file is written unless a folder is given, and only terminals show progress."""
    before = {*project.rglob("*")}
    done = run("bench", every_feed, *OWN, "--threads", 1, cwd=project)
    assert (done.returncode, done.stderr) == (0, "")
    for heading in ("2 texts of texts.txt", "one of them at a time", "files", "where the time"):
        assert heading in done.stdout
    assert {*project.rglob("*")} == before


@pytest.mark.weekly
def test_how_long_it_takes_is_said_first(every_feed: Path, project: Path) -> None:
    """On standard error, before anything is measured; of one's own texts nobody knows it."""
    done = run("bench", every_feed, "--rounds", "1", "--json", cwd=project)
    assert done.stderr.startswith("a model file as large as MiniLM takes about two minutes")
    Figures.model_validate_json(done.stdout)


def test_files_and_json(every_feed: Path, project: Path) -> None:
    """The JSON in the file is the JSON printed, and the plot lies where it was wanted."""
    pytest.importorskip("matplotlib", reason='pip install ".[plots]"')
    options = ("--clients", "right", "--output", "new/folder", "--plot", "plots/a.svg", "--json")
    printed = run("bench", every_feed, *OWN, *options, cwd=project).stdout
    assert [path.name for path in (project / "new/folder").iterdir()] == ["bench.json"]
    assert (project / "new/folder/bench.json").read_text() == printed
    figures = Figures.model_validate_json(printed)
    assert [row.client for row in figures.workloads[0].rows] == [None, "plain"]
    assert "</svg>" in (project / "plots/a.svg").read_text()


def test_other_vectors_end_with_1(every_feed: Path, project: Path) -> None:
    """The client has no figure, and the reason is told."""
    printed = polybake("bench", every_feed, *OWN, "--clients", "wrong", cwd=project, code=1)
    assert "FAIL every-feed in plain: fail: row 1, element 0: difference 2" in printed
