"""Collects the entries of an oracle run, and writes those of --record."""

from __future__ import annotations

from collections import defaultdict

import pytest

from support.oracle.record import RECORD, REMEDY, Json, entries, stem_of, write


class Records:
    """A pytest plugin; `proven` gives it the entries."""

    def __init__(self, config: pytest.Config) -> None:
        self.folder = config.rootpath / RECORD
        self.record = config.getoption("--record")
        named = any("::" in one for one in config.args)
        self.all_tests = not (named or config.getoption("keyword"))
        self.found: dict[str, dict[str, Json]] = defaultdict(dict)
        self.failed: set[str] = set()
        self.left: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if not report.passed:
            self.failed.add(stem_of(report.nodeid))
        if report.when == "call" and report.passed:
            for name, value in report.user_properties:
                if name == "recorded":
                    test, entry = value
                    self.found[stem_of(test)][test] = entry

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        for stem, found in self.found.items():
            path = self.folder / f"{stem}.json.xz"
            committed = entries(path)
            # Of a file whose tests all ran and passed, what none of them gave is left over.
            whole = self.all_tests and stem not in self.failed
            left = committed.keys() - found.keys() if whole else set()
            if self.record:
                kept = {name: one for name, one in committed.items() if name not in left}
                write(path, kept | found)
            else:
                self.left += sorted(left)
        if self.left and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        for name in self.left:
            fault = f"{RECORD.as_posix()} has an entry that no test gave: {name}; {REMEDY}"
            terminalreporter.write_line(fault, red=True)
