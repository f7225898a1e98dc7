"""The fixture `proven`, whose rows an oracle run compares with docs/support.md at its end."""

from __future__ import annotations

from typing import Protocol

import pytest

from polybake.proof import LIMIT
from support_table import REMEDY, Row, faults, parse, render


class Proven(Protocol):
    def __call__(self, *, kind: str, source: str, steps: str, difference: float) -> None: ...


@pytest.fixture
def proven(request: pytest.FixtureRequest) -> Proven:
    """Call it last: it writes a row of the support table, which counts if the test passes."""

    def write_row(*, kind: str, source: str, steps: str, difference: float) -> None:
        assert difference <= LIMIT
        row = Row(kind, source, steps, test=request.node.nodeid.partition("[")[0])
        request.node.user_properties.append(("proven", [*row, difference]))

    return write_row


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--write-support", action="store_true", help="write docs/support.md instead of comparing it"
    )


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(_SupportPage(config))


class _SupportPage:
    """Collects the rows of a run, then compares or writes the page."""

    def __init__(self, config: pytest.Config) -> None:
        self.path = config.rootpath / "docs" / "support.md"
        self.write = config.getoption("--write-support")
        named = config.args_source is pytest.Config.ArgsSource.ARGS
        self.all_tests = not (named or config.getoption("keyword"))
        self.rows: dict[Row, float] = {}
        self.collected: set[str] = set()
        self.passed: set[str] = set()
        self.faults: list[str] = []

    def pytest_itemcollected(self, item: pytest.Item) -> None:
        if item.get_closest_marker("oracle"):
            self.collected.add(item.nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" and report.passed:
            self.passed.add(report.nodeid)
            for name, value in report.user_properties:
                if name == "proven":
                    row, difference = Row(*value[:-1]), value[-1]
                    self.rows[row] = max(self.rows.get(row, 0.0), difference)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        whole = self.all_tests and bool(self.collected) and self.collected <= self.passed
        if self.write and whole:
            self.path.write_text(render(self.rows), encoding="utf-8")
        elif self.write:
            self.faults = ["was not written: not every oracle test ran and passed"]
        else:
            committed = parse(self.path.read_text("utf-8")) if self.path.is_file() else {}
            self.faults = faults(self.rows, committed, whole=whole)
        if self.faults and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        for fault in self.faults:
            terminalreporter.write_line(f"docs/support.md {fault}", red=True)
        if self.faults:
            terminalreporter.write_line(f"to write docs/support.md anew: {REMEDY}")
