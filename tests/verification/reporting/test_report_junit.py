"""The report as JUnit XML."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from polybake.verification.reporting.report_junit import report_junit
from support.samples.sample_report import sample_report


def suites() -> dict[str, ET.Element]:
    """The suites of the sample, read back."""
    root = ET.fromstring(report_junit(sample_report()))  # noqa: S314 - made here
    return {suite.get("name", ""): suite for suite in root}


def test_one_suite_per_language_and_device() -> None:
    """Suites count their tests, failures and skips."""
    counts = {
        name: [suite.get(key) for key in ("tests", "failures", "errors", "skipped")]
        for name, suite in suites().items()
    }
    assert counts == {
        "polybake.ruby.cpu": ["7", "0", "0", "0"],
        "polybake.csharp.cuda": ["6", "1", "0", "0"],
        "polybake.node.cpu": ["6", "0", "0", "6"],
    }


def test_one_test_case_per_case_and_stage() -> None:
    """Each verdict is one test case with its class name, name and time."""
    tests = suites()["polybake.ruby.cpu"].findall("testcase")
    assert [test.get("name") for test in tests] == [
        "plain.tokenize",
        "plain.embed_ids",
        "plain.embed",
        "long.tokenize",
        "long.embed_ids",
        "long.embed",
        "session.self_check",
    ]
    assert {test.get("classname") for test in tests} == {"polybake.ruby.cpu"}
    assert tests[0].get("time") == "0.250"


def test_hostile_message_is_legal_xml() -> None:
    """A message with NUL, ESC, markup and a lone surrogate can be read back, escaped."""
    (failure,) = suites()["polybake.csharp.cuda"].iter("failure")
    expected = "bad \\x00 \\x1b[31m ]]> [bold] <b> & \" ' \\ud800 \\n end"
    assert failure.get("message") == expected
    assert failure.get("type") == "fail"


def test_versions_are_properties() -> None:
    """Versions and the active provider stand in the suite's properties."""
    properties = {
        entry.get("name"): entry.get("value")
        for entry in suites()["polybake.csharp.cuda"].iter("property")
    }
    assert properties == {
        "language": "csharp",
        "language_version": "10.0.101",
        "runtime_version": "1.31.1",
        "tokenizer_version": "0.23.3",
        "provider": "CUDAExecutionProvider",
        "proven_by": "profile",
    }
