"""The report as JUnit XML, for CI systems."""

from xml.etree import ElementTree as ET

from polybake.base.files.printable import printable
from polybake.verification.report import ClientRun, Report
from polybake.verification.verdict import Status, Verdict


def report_junit(report: Report) -> bytes:
    """Write a suite per language and device, with a test per case and stage: ``CASE.STAGE``."""
    root = ET.Element("testsuites", name="polybake")
    for run in report.runs:
        root.append(_suite(run, report.verdicts_of(run)))
    ET.indent(root)
    xml: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return xml + b"\n"


def _suite(run: ClientRun, verdicts: tuple[Verdict, ...]) -> ET.Element:
    name = printable(f"polybake.{run.language}.{run.device}")
    tests = [_testcase(name, verdict) for verdict in verdicts]
    suite = ET.Element("testsuite", name=name, tests=str(len(tests)), time=f"{run.seconds:.3f}")
    for kind, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(kind, str(sum(test.find(tag) is not None for test in tests)))
    properties = ET.SubElement(suite, "properties")
    for key, value in _facts(run).items():
        ET.SubElement(properties, "property", name=key, value=printable(value))
    suite.extend(tests)
    return suite


def _facts(run: ClientRun) -> dict[str, str]:
    facts: dict[str, str] = {}
    if run.versions:
        facts |= run.versions.model_dump()
    if run.provider:
        facts |= {"provider": run.provider.active, "proven_by": run.provider.proven_by}
    return facts


def _testcase(classname: str, verdict: Verdict) -> ET.Element:
    test = ET.Element(
        "testcase",
        classname=classname,
        name=printable(f"{verdict.case}.{verdict.stage}"),
        time=f"{verdict.seconds:.3f}",
    )
    if verdict.status is not Status.PASS:
        tag = "failure" if verdict.status is Status.FAIL else "error"
        ET.SubElement(
            test,
            "skipped" if verdict.status.skipped else tag,
            type=verdict.status,
            message=printable(verdict.message),
        )
    return test
