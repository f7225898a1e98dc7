"""The report as one self-contained HTML page, for a light and for a dark background."""

from markupsafe import Markup

from polybake import __version__
from polybake.base.files.printable import printable
from polybake.base.files.templates import template_environment, templates_folder
from polybake.verification.judging.evidence import MOST
from polybake.verification.report import Report
from polybake.verification.reporting.summary import (
    headline,
    nearness,
    passed,
    summary,
    troubles,
    word,
)

#: The failures of a client that are shown before the rest is folded.
_FIRST = 5


def report_html(report: Report) -> str:
    """Write the page; all values from outside are escaped."""
    folder = templates_folder() / "report"
    environment = template_environment(folder, autoescape=True, finalize=_shown)
    verdict, sentence = headline(report)
    return environment.get_template("report.html.jinja").render(
        report=report,
        verdict=verdict,
        sentence=sentence,
        summary=summary(report),
        clients=_clients(report),
        worst=any(run.worst for run in report.runs),
        first=_FIRST,
        most=MOST,
        version=__version__,
    )


def _shown(value: object) -> object:
    """Escape a value; marks of direction are escaped, too, so that text cannot mislead."""
    return value if isinstance(value, Markup) else printable(str(value))


def _clients(report: Report) -> list[dict[str, object]]:
    """Return the page's facts about each client."""
    clients: list[dict[str, object]] = []
    for run in report.runs:
        verdicts = report.verdicts_of(run)
        clients.append(
            {
                "run": run,
                "word": word(verdicts),
                "passed": passed(verdicts),
                "nearness": nearness(run),
                "troubles": list(troubles(verdicts)),
            }
        )
    return clients
