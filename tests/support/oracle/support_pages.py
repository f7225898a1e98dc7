"""Collects the rows of an oracle run, then compares or writes docs/support.md."""

from __future__ import annotations

import pytest

from support.oracle.published_models import section
from support.oracle.support_table import REMEDY, Row, faults, parse, render


class SupportPages:
    """A pytest plugin; `proven` gives it the rows."""

    def __init__(self, config: pytest.Config) -> None:
        self.page = config.rootpath / "docs" / "support.md"
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

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        """Note the tests that workers of pytest-xdist collect; without the oracle none counts."""
        self.collected.update(ids)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" and report.passed:
            self.passed.add(report.nodeid)
            for name, value in report.user_properties:
                if name == "proven":
                    row, difference = Row(*value[:-1]), value[-1]
                    self.rows[row] = max(self.rows.get(row, 0.0), difference)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        whole = self.all_tests and bool(self.rows) and self.collected <= self.passed
        if self.write and whole:
            old = self.page.read_text("utf-8") if self.page.is_file() else ""
            self.page.write_text(render(self.rows, section(old)), encoding="utf-8")
        elif self.write:
            self.faults = ["was not written: not every oracle test ran and passed"]
        else:
            committed = parse(self.page.read_text("utf-8")) if self.page.is_file() else {}
            self.faults = faults(self.rows, committed, whole=whole)
        if self.faults and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        for fault in self.faults:
            terminalreporter.write_line(f"docs/support.md {fault}", red=True)
        if self.faults:
            terminalreporter.write_line(f"to write docs/support.md anew: {REMEDY}")
