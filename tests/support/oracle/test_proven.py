from __future__ import annotations

from pathlib import Path

import pytest

from support.oracle.support_table import parse

pytestmark = pytest.mark.slow

pytest_plugins = ["pytester"]

FOLDER = Path(__file__).parents[2]
INI = f"""
[pytest]
testpaths = tests
pythonpath = {FOLDER} {FOLDER.parent / "tools"}
markers =
    oracle: compares
"""
#: Its files have no sources that a record could hold.
CONFTEST = """
from support.oracle.record import UNRECORDED

UNRECORDED["test_tiny"] = "written by hand"
pytest_plugins = ["support.oracle.proven"]
"""
TESTS = """
import pytest

from support.oracle.agreement import Agreement
from models.files.every_feed import write_every_feed_model

@pytest.fixture
def shown(proven, tmp_path):
    def show(kind, difference):
        model = write_every_feed_model(tmp_path / "model.onnx")
        proven(kind, Agreement(model, (), difference), source="folder")

    return show

@pytest.mark.oracle
@pytest.mark.parametrize("difference", [2.5e-7, 1e-8])
def test_a(shown, difference):
    shown("a", difference)

@pytest.mark.oracle
def test_b(shown):
    shown("b", difference=1e-7)
"""


class Project:
    """A folder with two oracle tests, and the page that they write."""

    def __init__(self, pytester: pytest.Pytester, page: str) -> None:
        self._pytester = pytester
        pytester.makeini(INI)
        self.page = pytester.mkdir("docs") / "support.md"
        if page:
            self.page.write_text(page, encoding="utf-8")
        self.tests = pytester.mkdir("tests") / "test_tiny.py"
        self.tests.write_text(TESTS, encoding="utf-8")
        conftest = pytester.path / "tests" / "conftest.py"
        conftest.write_text(CONFTEST, encoding="utf-8")

    def run(self, *arguments: str) -> tuple[int, str]:
        done = self._pytester.runpytest_subprocess("-m", "oracle", *arguments)
        return done.ret, done.stdout.str()

    def change(self, old: str, new: str) -> None:
        text = self.tests.read_text(encoding="utf-8")
        assert old in text
        self.tests.write_text(text.replace(old, new), encoding="utf-8")


#: The page that a whole run writes, once one has.
WRITTEN: list[str] = []


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Project:
    """The project, with its page written."""
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    made = Project(pytester, "".join(WRITTEN))
    if not WRITTEN:
        assert made.run("--write-support")[0] == 0
        WRITTEN.append(made.page.read_text(encoding="utf-8"))
    return made


@pytest.mark.weekly
def test_a_run_writes_its_rows(project: Project) -> None:
    """The largest difference of a test's parameters is shown, and the next run agrees."""
    page = project.page.read_text(encoding="utf-8")
    rows = parse(page)
    shown = {(row.kind, row.test): difference for row, difference in rows.items()}
    assert shown == {
        ("a", "tests/test_tiny.py::test_a"): 3e-7,
        ("b", "tests/test_tiny.py::test_b"): 1e-7,
    }
    assert "| a | 3e-07 |" in page
    assert "| folder | a, b |\n" in page
    assert project.run()[0] == 0


@pytest.mark.weekly
def test_a_missing_row_fails_the_run(project: Project) -> None:
    """A new kind is named with the command that adds it, also when it ran alone."""
    project.change('"b"', '"c"')
    code, output = project.run("-k", "test_b")
    assert code == 1
    assert "docs/support.md has no row for c, folder, mean (tests/test_tiny.py::test_b)" in output
    assert "nox -s oracle -- --write-support" in output


@pytest.mark.weekly
@pytest.mark.parametrize("part", [("-k", "test_b"), ("tests/test_tiny.py",)])
def test_only_a_whole_run_misses_rows(project: Project, part: tuple[str, ...]) -> None:
    """A row that nothing proves any more fails a run of everything, and of no less."""
    project.change("def test_a(", "def skipped(")
    assert project.run(*part)[0] == 0
    code, output = project.run()
    assert code == 1
    assert "docs/support.md has a row that no test wrote: a, folder, mean" in output


@pytest.mark.weekly
def test_a_part_is_not_written(project: Project) -> None:
    """Rows of tests that did not run or did not pass are not lost."""
    before = project.page.read_text(encoding="utf-8")
    code, output = project.run("--write-support", "-k", "test_b")
    assert code == 1
    assert "was not written: not every oracle test ran and passed" in output
    project.change("difference=1e-7", "difference=2e-5")
    assert project.run("--write-support")[0] == 1
    assert project.page.read_text(encoding="utf-8") == before


@pytest.mark.weekly
def test_no_number_proves_nothing(project: Project) -> None:
    """A difference of NaN fails the run."""
    project.change("difference=1e-7", "difference=float('nan')")
    assert project.run("-k", "test_b")[0] == 1
