"""The report as JSON."""

from __future__ import annotations

import json

from faulty.subject import SubjectFiles
from polybake.verification.judge import judge
from polybake.verification.reporting.report_json import report_json
from support.samples.sample_report import HOSTILE, sample_report


def test_every_verdict_is_there() -> None:
    """Verdicts, versions, providers and differences can be read back as they were."""
    text = report_json(sample_report())
    found = json.loads(text)
    assert text.isascii()
    assert (found["format"], found["exit_code"], found["executed"]) == (1, 1, 12)
    assert len(found["verdicts"]) == 19
    assert found["verdicts"][11] == {
        "language": "csharp",
        "device": "cuda",
        "case": "long",
        "stage": "embed",
        "status": "fail",
        "message": HOSTILE,
        "difference": 3e-5,
        "seconds": 0.5,
        "asked": True,
    }
    assert found["runs"][1]["provider"]["active"] == "CUDAExecutionProvider"
    assert found["runs"][2]["versions"] is None
    assert found["language_differences"][0]["languages"] == ["csharp", "ruby"]


def test_odd_numbers_of_a_client_are_no_obstacle(subject: SubjectFiles) -> None:
    """A client that answers NaN leads to a report of plain JSON all the same."""
    report = judge(subject.model, [subject.client("NotANumber")], subject.fixture)
    found = json.loads(report_json(report), parse_constant=lambda name: name)
    assert {verdict["difference"] for verdict in found["verdicts"]} == {None, 0.0}
