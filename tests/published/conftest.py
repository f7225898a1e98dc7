"""A table of every published model's end, printed below the results of the tests."""

from __future__ import annotations

import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the table if these tests ran, and how many models bake."""
    reports = [
        dict(report.user_properties)
        for outcome in ("passed", "failed")
        for report in terminalreporter.stats.get(outcome, [])
        if report.when == "call" and any(key == "shape" for key, _ in report.user_properties)
    ]
    if not reports:
        return
    terminalreporter.section("published models")
    width = max(len(found["shape"][0]) for found in reports)
    bake = models = 0
    for found in sorted(reports, key=lambda found: (not found["shape"][1], found["shape"])):
        repository, task, dimension, message = found["shape"]
        end = f"{task} [{dimension}]" if task else f"refused: {message}"
        terminalreporter.write_line(f"{repository:{width}}  {end}")
        bake += bool(task)
        models += found["models"] if task else 0
    listed = sum(found["models"] for found in reports)
    terminalreporter.write_line(
        f"{bake} of {len(reports)} shapes bake; they stand for {models} of {listed} models"
    )
