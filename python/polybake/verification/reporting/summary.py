"""The sentences that all reports for people share."""

from collections.abc import Iterator
from dataclasses import dataclass

from polybake.verification.judging.evidence import Difference
from polybake.verification.report import ClientRun, Report
from polybake.verification.verdict import ALL_STAGES, MANY_STAGES, Status, Verdict, executed


@dataclass(frozen=True)
class Trouble:
    """Verdicts on a client that share status and message.

    Attributes:
        first: The first verdict.
        more: How many other verdicts there are.
    """

    first: Verdict
    more: int

    @property
    def place(self) -> str:
        """The case and stage of the first verdict, and the number of others."""
        if not self.first.asked:
            return f"{self.more + 1} stages that were not asked"
        more = f" and {self.more} more" if self.more else ""
        return f"case {self.first.case}, stage {self.first.stage}{more}"


def word(verdicts: tuple[Verdict, ...]) -> str:
    """Return how a client did: ``PASS``, ``FAIL``, or ``SKIP`` if nothing was judged."""
    if any(verdict.status.failed for verdict in verdicts):
        return "FAIL"
    return "PASS" if any(map(executed, verdicts)) else "SKIP"


def headline(report: Report) -> tuple[str, str]:
    """The word for the whole report, and a sentence that a person understands at once."""
    words = [word(report.verdicts_of(run)) for run in report.runs]
    count, failed, skipped = len(words), words.count("FAIL"), words.count("SKIP")
    if failed:
        clients = "The client fails" if count == 1 else f"{failed} of {count} clients fail"
        return "FAIL", clients
    if not report.executed:
        return "FAIL", "Nothing was verified: no client ran a single case"
    if report.missing:
        return "FAIL", "Something that is required is missing"
    if skipped:
        return "PASS", f"{count - skipped} of {count} clients pass, {skipped} skipped"
    known = {1: "The client gives", 2: "Both clients give"}
    clients = known.get(count, f"All {count} clients give")
    return "PASS", f"{clients} the golden vectors"


def troubles(verdicts: tuple[Verdict, ...]) -> Iterator[Trouble]:
    """Yield what did not pass, each once."""
    groups: dict[tuple[str, str, str, str], list[Verdict]] = {}
    for verdict in verdicts:
        if verdict.status is not Status.PASS:
            key = (verdict.language, verdict.device, verdict.status, verdict.message)
            groups.setdefault(key, []).append(verdict)
    for first, *rest in groups.values():
        yield Trouble(first, len(rest))


def passed(verdicts: tuple[Verdict, ...]) -> str:
    """``34/36``: how many stages of cases passed."""
    mine = [verdict for verdict in verdicts if verdict.stage in ALL_STAGES]
    return f"{sum(verdict.status is Status.PASS for verdict in mine)}/{len(mine)}"


def largest(run: ClientRun) -> Difference | None:
    """Return the largest difference of a client from the golden vectors; None without any."""
    return max(run.differences, key=lambda difference: difference.largest, default=None)


def nearness(run: ClientRun) -> str:
    """Return the largest difference and its limit, ``2.1e-07 of 1e-05``; for integers, steps."""
    farthest = largest(run)
    if farthest is None:
        return ""
    if farthest.limit is None:
        return f"{farthest.largest:g} step{'s' * (farthest.largest != 1)}"
    return f"{farthest.largest:.2g} of {farthest.limit:.0e}"


def summary(report: Report) -> str:
    """How much was really asked."""
    if not report.executed:
        return "nothing was verified: no client ran a single case"
    stages = {v.stage for v in report.verdicts} & {*ALL_STAGES}
    many = len(stages & {*MANY_STAGES})
    each = f"{report.cases} cases x {len(stages) - many} stages"
    if many:
        each = f"({each} + {many} of many texts)"
    product = len(report.runs) * (report.cases * (len(stages) - many) + many)
    # Clients with streams beside others have no common number.
    counted = f" ({len(report.runs)} runs x {each})" if product == report.asked else ""
    return (
        f"{report.executed} of {report.asked} stages executed{counted}, "
        f"failures: {failures(report)}"
    )


def failures(report: Report) -> int:
    """Return the number of failed stages; those after the loss of a client count as one."""
    lost = {(failure.language, failure.device) for failure in report.failures if not failure.asked}
    return sum(failure.asked for failure in report.failures) + len(lost)
