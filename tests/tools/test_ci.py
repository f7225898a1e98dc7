"""Which sessions a change needs, and what is said of those that ran."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from ci import Session, digest, due, main, read_sessions, run, with_needs, write_passed

TABLE = """
[every_change]
tests = 300

[weekly.oracle]
seconds = 600
subjects = ["python", "tests/models.py"]
"""


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with one weekly session."""
    contents = {
        ".ci/sessions.toml": TABLE,
        "python/step.py": "1",
        "python/encoder.py": "2",
        "tests/models.py": "3",
        "README.md": "4",
    }
    for name, content in contents.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content)
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    subprocess.run(["git", "add", "."], cwd=tmp_path, check=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def names_due(checkout: Path) -> list[str]:
    return [one.name for one in due(checkout, read_sessions(checkout))]


def test_a_weekly_session_is_due_where_its_subject_changed(checkout: Path) -> None:
    """Nothing else makes it due, and a changed byte of any of its files does."""
    assert names_due(checkout) == ["tests", "oracle"]
    _, oracle = read_sessions(checkout)
    write_passed(checkout, "oracle", digest(checkout, oracle.subjects))
    (checkout / "README.md").write_text("5")
    assert names_due(checkout) == ["tests"]
    for name in ("python/encoder.py", "tests/models.py"):
        before = (checkout / name).read_text()
        (checkout / name).write_text("other")
        assert names_due(checkout) == ["tests", "oracle"]
        (checkout / name).write_text(before)
    assert names_due(checkout) == ["tests"]


def test_a_subject_that_is_not_there_is_named(checkout: Path) -> None:
    """A folder that moved would make its session never due again."""
    with pytest.raises(SystemExit, match=r"sessions\.toml: 'gone' is no file"):
        digest(checkout, ["python", "gone"])


def test_what_passes_is_recorded_and_what_does_not_run_is_said(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """After a failure nothing else begins, and the record keeps only what passed."""
    first, second, third = (Session(name, 9, ("python",)) for name in "abc")
    assert not run(checkout, [first, second, third], lambda one: one.name == "b")
    said = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in said[2:]] == ["a", "b", "c"]
    assert said[-2].endswith("failed")
    assert said[-1].endswith("did not run")
    assert due(checkout, [first, second, third]) == [second, third]


def test_what_is_edited_meanwhile_has_not_passed(checkout: Path) -> None:
    """A session is recorded with what it began with."""
    session = Session("a", 9, ("python",))

    def edit(_: Session) -> int:
        (checkout / "python/step.py").write_text("edited")
        return 0

    assert run(checkout, [session], edit)
    assert due(checkout, [session]) == [session]


def test_what_a_session_needs_runs_before_it() -> None:
    """Also what that needs, and nothing else."""
    table = [Session("a", 9), Session("b", 9, (), ("a",)), Session("c", 9, (), ("b",))]
    assert with_needs([*table, Session("d", 9)], table[2:]) == table


@pytest.mark.usefixtures("checkout")
def test_an_unknown_name_is_refused() -> None:
    """The names that can be chosen are told."""
    with pytest.raises(SystemExit, match=r"'orcale' is no session .*: tests, oracle"):
        main(["orcale"])


def test_the_table_names_sessions_and_files_that_are_there(repository: Path) -> None:
    """A session or a subject that is renamed would fail only at a change of its own."""
    noxfile = (repository / "noxfile.py").read_text("utf-8")
    for one in read_sessions(repository):
        assert f"\ndef {one.name.split()[0]}(session" in noxfile
        for subject in one.subjects:
            assert (repository / subject).exists(), subject
