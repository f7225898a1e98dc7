"""Proof from a JUnit report that nothing was skipped: every stage of every language passed.

Example: python tools/completeness.py verify.xml --languages python,ruby --cases 26
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from xml.etree import ElementTree as ET

from polybake.errors import CheckFailed, InputError, PolybakeError
from polybake.verification.verdict import CASE_STAGES, MANY_STAGES, Stage


def check_complete(
    junit: Path,
    languages: Sequence[str],
    devices: Sequence[str],
    cases: int,
    without_stream: Sequence[str] = (),
) -> int:
    """Count the stages that were executed and passed, and return how many there are.

    Clients of the languages ``without_stream`` have no stage of that name.

    Raises:
        InputError: the file is no JUnit report.
        CheckFailed: a language on a device lacks a stage of a case, or has one twice.
    """
    try:
        tests = list(ET.parse(junit).iter("testcase"))  # noqa: S314 - our own report
    except (OSError, ET.ParseError) as error:
        raise InputError(
            f"{junit}: is no JUnit report; write one with: polybake verify --junit"
        ) from error
    names = [(test.get("classname", ""), test.get("name", "")) for test in tests if not len(test)]
    if len(set(names)) != len(names):
        raise CheckFailed(f"{junit}: a test case occurs twice; verify each client once")
    passed = Counter((classname, name.rpartition(".")[2]) for classname, name in names)
    times = dict.fromkeys(CASE_STAGES, cases) | dict.fromkeys(MANY_STAGES, 1)
    executed = 0
    for language, device, stage in product(languages, devices, times):
        if stage is Stage.STREAM and language in without_stream:
            continue
        found = passed[f"polybake.{language}.{device}", stage]
        if found != times[stage]:
            raise CheckFailed(
                f"{junit}: {language} on {device}, stage {stage}: {found} cases passed, "
                f"expected {times[stage]}; see the report for what was skipped or failed"
            )
        executed += found
    return executed


def main(arguments: Sequence[str] | None = None) -> int:
    """Check a report from the command line; returns the exit code."""
    parser = argparse.ArgumentParser(prog="completeness", description=__doc__)
    parser.add_argument("junit", type=Path, help="the report of: polybake verify --junit")
    parser.add_argument("--languages", required=True, help="separated by commas")
    parser.add_argument("--devices", default="cpu", help="separated by commas")
    parser.add_argument("--without-stream", default="", help="languages, separated by commas")
    parser.add_argument("--cases", required=True, type=int, help="how many the fixture has")
    options = parser.parse_args(arguments)
    try:
        executed = check_complete(
            options.junit,
            options.languages.split(","),
            options.devices.split(","),
            options.cases,
            options.without_stream.split(","),
        )
    except PolybakeError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    sys.stdout.write(f"{executed} stages executed and passed\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
