"""A matrix as a page's table."""

from polybake.base.files.printable import printable
from polybake.verification.matrix.matrix_report import MatrixReport
from polybake.verification.matrix.report_table import described, found, headings, summary, troubles


def matrix_markdown(report: MatrixReport) -> str:
    """Write the table, then each trouble as a list item, then the summary."""
    names = headings(report)
    rows = [(*described(report, row), *map(found, row.cells)) for row in report.rows]
    lines = [_line(names), "|---" * len(names) + "|", *map(_line, rows), ""]
    points = [f"- {_plain(line)}" for line in troubles(report)]
    return "\n".join([*lines, *points, *([""] if points else []), _plain(summary(report)), ""])


def _line(cells: tuple[str, ...]) -> str:
    return f"| {' | '.join(map(_plain, cells))} |"


def _plain(words: str) -> str:
    """Words that no renderer takes for a column's end or a tag."""
    return printable(words).replace("|", "\\|").replace("<", "&lt;")
