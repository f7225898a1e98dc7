"""The report as Markdown that fits a comment on a pull request."""

from collections.abc import Iterable, Iterator, Sequence

from polybake.base.files.printable import code_span
from polybake.verification.report import ClientRun, Report
from polybake.verification.reporting.summary import (
    failures,
    headline,
    nearness,
    passed,
    summary,
    troubles,
    word,
)

#: The most characters of a comment on GitHub.
LONGEST = 65_536

#: The most characters of a message, which may hold the end of a client's standard error.
_MESSAGE = 600

_MARKS = {"PASS": "✅", "FAIL": "❌", "SKIP": "⚪"}


def report_markdown(report: Report) -> str:
    """Write the verdict, a row for each client, and the failures, folded.

    Values from outside stand in code spans, so that they mention nobody and are not markup.
    """
    verdict, sentence = headline(report)
    head = [
        f"### {_MARKS[verdict]} polybake verify: {sentence}",
        "",
        f"{code_span(report.model)} {code_span(report.fingerprint[:12])}: {summary(report)}",
        "",
        *_table(report),
    ]
    for title, sentences in (("Missing", report.missing), ("Note", report.notes)):
        head += _list(f"**{title}**", [_cut(sentence) for sentence in sentences])
    failed = [trouble for trouble in troubles(report.verdicts) if trouble.first.status.failed]
    lines = [
        f"{code_span(f'{item.first.language} on {item.first.device}')}, {code_span(item.place)}: "
        f"{item.first.status}: {_cut(item.first.message)}"
        for item in failed
    ]
    if not lines:
        return _shortened(head, ())
    summed = f"<summary>{failures(report)} failures</summary>"
    return _shortened([*head, "", "<details>", summed, ""], lines, ["", "</details>"])


def _table(report: Report) -> Iterator[str]:
    yield "| | client | device | stages passed | largest difference | seconds |"
    yield "|---|---|---|--:|--:|--:|"
    for run in report.runs:
        verdicts = report.verdicts_of(run)
        verdict = word(verdicts)
        cells = (
            f"{_MARKS[verdict]} {verdict}",
            _client(run),
            run.device,
            passed(verdicts),
            nearness(run),
            f"{run.seconds:.1f}",
        )
        yield f"| {' | '.join(cells)} |"


def _client(run: ClientRun) -> str:
    """Return a client's cell; bars are escaped, as they end a cell even within a code span."""
    parts = [code_span(run.language)]
    if run.versions:
        parts = [
            code_span(f"{run.language} {run.versions.language_version}"),
            f"runtime {code_span(run.versions.runtime_version)}",
            f"tokenizer {code_span(run.versions.tokenizer_version)}",
        ]
    return ", ".join(parts).replace("|", "\\|")


def _list(title: str, lines: Sequence[str]) -> list[str]:
    return ["", title, "", *(f"- {line}" for line in lines)] if lines else []


def _cut(message: str) -> str:
    return code_span(f"{message[:_MESSAGE]}…" if len(message) > _MESSAGE else message)


def _shortened(head: Iterable[str], failures: Sequence[str], end: Sequence[str] = ()) -> str:
    """The whole, or as many failures as there is room for and how many are left out."""
    room = LONGEST - 200 - sum(len(line) + 1 for line in (*head, *end))
    entries: list[str] = []
    for line in failures:
        room -= len(line) + 3
        if room < 0:
            count = len(failures) - len(entries)
            entries.append(f"{count} more are left out: a comment has no room for them.")
            break
        entries.append(line)
    text = "\n".join([*head, *(f"- {line}" for line in entries), *end]) + "\n"
    if len(text) <= LONGEST:
        return text
    note = "\n\nThe rest is left out: a comment has no room for it.\n"
    return text[: LONGEST - len(note)].rpartition("\n")[0] + note
