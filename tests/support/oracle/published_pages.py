"""Collects what became of published models, then compares or writes their table."""

from __future__ import annotations

import pytest

from support.oracle.published_models import REMEDY, Row, faults, parse, with_rows


class PublishedPages:
    """A pytest plugin; tests give it rows by ``user_properties``.

    The property ``published`` is a list of rows; ``listed`` is how many tests give such.
    """

    def __init__(self, config: pytest.Config) -> None:
        self.page = config.rootpath / "docs" / "support.md"
        self.write = config.getoption("--write-models")
        self.rows: dict[str, Row] = {}
        self.tests = self.listed = 0
        self.faults: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" and report.passed:
            found = dict(report.user_properties)
            if "published" in found:
                self.rows |= {row[0]: Row(*row) for row in found["published"]}
                self.tests, self.listed = self.tests + 1, found["listed"]

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        whole = bool(self.rows) and self.tests == self.listed
        if self.write and whole:
            page = self.page.read_text("utf-8")
            self.page.write_text(with_rows(page, self.rows.values()), encoding="utf-8")
        elif self.write:
            self.faults = ["was not written: not every published model was opened as it says"]
        else:
            committed = parse(self.page.read_text("utf-8")) if self.rows else {}
            self.faults = faults(self.rows, committed, whole=whole)
        if self.faults and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        for fault in self.faults:
            terminalreporter.write_line(f"docs/support.md {fault}", red=True)
        if self.faults:
            terminalreporter.write_line(f"to write the table anew: {REMEDY}")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--write-models", action="store_true", help="write the table of published models anew"
    )


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):  # which opens only its own part of the models
        config.pluginmanager.register(PublishedPages(config))
