"""A matrix for people: rows of text, shown on a terminal."""

from collections.abc import Iterator

from rich.console import Console
from rich.table import Table
from rich.text import Text

from polybake.base.files.printable import printable
from polybake.verification.matrix.matrix_report import Cell, MatrixReport, Row
from polybake.verification.reporting.summary import word

_STYLES = {"PASS": "green", "FAIL": "bold red", "SKIP": "yellow"}


def print_matrix(report: MatrixReport, console: Console) -> None:
    """Print the table, then all that went wrong."""
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
    for heading in headings(report):
        table.add_column(printable(heading), overflow="fold")
    for row in report.rows:
        shown = [Text(printable(text)) for text in described(report, row)]
        verdicts = [Text(found(cell), style=_STYLES[word(cell.verdicts)]) for cell in row.cells]
        table.add_row(*shown, *verdicts)
    console.print(table)
    console.print()
    for line in (*troubles(report), summary(report)):
        console.print(Text(printable(line)), soft_wrap=True)


def headings(report: MatrixReport) -> tuple[str, ...]:
    """Return the headings of the columns; columns that no combination sets are left out."""
    return ("client", "runtime", "tokenizer", "device", *_optional(report), *report.models)


def described(report: MatrixReport, row: Row) -> tuple[str, ...]:
    """Return a row's environment in the order of the headings, with the client's own versions."""
    one, versions = row.combination, row.versions
    limits = {
        "threads": "all" if one.threads is None else str(one.threads),
        "instructions": one.instructions or "own",
    }
    return (
        f"{one.language} {versions.language_version}" if versions else one.language,
        versions.runtime_version if versions else one.runtime or "unknown",
        versions.tokenizer_version if versions else one.tokenizer or "unknown",
        one.device,
        *(limits[name] for name in _optional(report)),
    )


def found(cell: Cell) -> str:
    """Return the status, and the largest difference if vectors were compared."""
    status = (
        word(cell.verdicts)
        if cell.status in ("pass", "fail")
        else f"{word(cell.verdicts)} {cell.status}"
    )
    return status if cell.difference is None else f"{status} {cell.difference:.1e}"


def troubles(report: MatrixReport) -> Iterator[str]:
    """Yield a line for each distinct skip and failure of a row, and for each missing thing."""
    for row in report.rows:
        told: dict[str, list[str]] = {}
        for cell in row.cells:
            verdict, first = word(cell.verdicts), cell.telling
            if verdict != "PASS":
                line = f"{verdict} {row.combination}: {first.case} {first.stage}: {first.status}"
                told.setdefault(f"{line}: {first.message}", []).append(cell.model)
        for line, models in told.items():
            yield line if len(models) == len(row.cells) else f"{line} ({', '.join(models)})"
    yield from (f"MISSING {sentence}" for sentence in report.missing)


def summary(report: MatrixReport) -> str:
    """Return how many cells passed, and the machine."""
    words = [word(cell.verdicts) for cell in report.cells]
    passed, failed, skipped = (words.count(one) for one in ("PASS", "FAIL", "SKIP"))
    return (
        f"{passed} of {len(words)} cells passed, {failed} failed, {skipped} skipped; "
        f"{report.machine}"
    )


def _optional(report: MatrixReport) -> tuple[str, ...]:
    combined = [row.combination for row in report.rows]
    return tuple(
        name
        for name in ("threads", "instructions")
        if any(getattr(one, name) is not None for one in combined)
    )
