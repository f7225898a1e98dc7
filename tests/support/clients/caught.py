"""A summary at the end of a run: the mutants that were caught, and by what verdict."""

from __future__ import annotations

from typing import Any

import pytest

from support.clients.mutants import Mutant

_WORDS = 60


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Function) -> None:
    """Keep what the test is about, whatever becomes of it."""
    if item.get_closest_marker("mutants"):
        mutant: Mutant = item.callspec.params["mutant"]
        where = f"{item.callspec.params['language']}{', file' * bool(mutant.change)}"
        item.user_properties.append(("mutant", [where, mutant.id, not mutant.stages]))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print a line for each mutant, and how many were caught of those planted."""
    found = [
        (report, dict(report.user_properties))
        for reports in terminalreporter.stats.values()
        for report in reports
        if isinstance(report, pytest.TestReport)
        and (report.failed or (report.when == "call" and report.passed))
    ]
    found = [(report, kept) for report, kept in found if "mutant" in kept]
    if not found:
        return
    terminalreporter.section("mutants")
    for line in sorted(_line(kept, as_expected=report.passed) for report, kept in found):
        terminalreporter.line(line)
    caught, passed = (
        f"{sum(done)} of {len(done)}"
        for wanted in (False, True)
        for done in [[report.passed for report, kept in found if kept["mutant"][2] is wanted]]
    )
    terminalreporter.line(f"caught {caught}, and {passed} harmless ones passed")


def _line(kept: dict[str, Any], *, as_expected: bool) -> str:
    where, name, _ = kept["mutant"]
    stage, message = kept.get("verdict", ("pass", ""))
    wrong = "" if as_expected else "NOT AS EXPECTED "
    return f"{where:<12}  {name:<48}  {wrong}{stage:<9}  {message:.{_WORDS}}".rstrip()
