"""The report as JSON, for programs."""

import json

from pydantic import TypeAdapter

from polybake.verification.report import Report

FORMAT = 1

_REPORT = TypeAdapter(Report)


def report_json(report: Report) -> str:
    """The whole report: ``format``, ``exit_code``, ``executed`` and the fields of Report."""
    data = {"format": FORMAT, "exit_code": report.exit_code(), "executed": report.executed}
    data |= _REPORT.dump_python(report, mode="json")
    return json.dumps(data, ensure_ascii=True, indent=2, allow_nan=False) + "\n"
