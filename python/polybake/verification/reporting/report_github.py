"""The report as annotations: GitHub's workflow commands, which its runner takes from the log."""

from collections.abc import Iterator
from pathlib import Path

from polybake.base.files.printable import printable
from polybake.verification.report import Report
from polybake.verification.reporting.summary import headline, troubles

#: The most annotations of a kind that GitHub shows for a step. Source: actions/toolkit,
#: docs/problem-matchers.md.
MOST = 10

#: Characters that end a part of a command; line breaks are escaped already, as not printable.
#: Source: actions/runner, ActionCommand.cs.
_DATA = {"%": "%25"}
_PROPERTY = {**_DATA, ":": "%3A", ",": "%2C"}


def report_github(report: Report, file: Path | None = None) -> str:
    """Write an annotation, a line each, for each client that did not pass.

    GitHub shows them at a file of the repository; without one, with the run.
    """
    lines: dict[str, list[str]] = {"error": [], "warning": [], "notice": []}
    for kind, title, message in _annotations(report):
        location = f"file={_escaped(str(file), _PROPERTY)}," if file else ""
        title = _escaped(f"polybake verify: {title}", _PROPERTY)
        lines[kind].append(f"::{kind} {location}title={title}::{_escaped(message, _DATA)}\n")
    for kind, group in lines.items():
        if len(group) > MOST:
            count = len(group) - MOST + 1
            group[MOST - 1 :] = [f"::{kind} title=polybake verify::{count} more are in the log\n"]
    return "".join(line for group in lines.values() for line in group)


def _annotations(report: Report) -> Iterator[tuple[str, str, str]]:
    for sentence in report.missing:
        yield "error", "missing", sentence
    for run in report.runs:
        items = [*troubles(report.verdicts_of(run))]
        failed = [item for item in items if item.first.status.failed]
        for first, *rest in filter(None, (failed, [item for item in items if item not in failed])):
            others = sum(1 + item.more for item in rest)
            yield (
                "error" if first.first.status.failed else "notice",
                f"{run.language} on {run.device}",
                f"{first.place}: {first.first.status}: {first.first.message}"
                + (f"; {others} other stages did not pass either" if others else ""),
            )
    if report.exit_code() and not report.failures and not report.missing:
        yield "error", "no case", headline(report)[1]


def _escaped(text: str, characters: dict[str, str]) -> str:
    return "".join(characters.get(character, character) for character in printable(text))
