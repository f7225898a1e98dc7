"""The figures for a terminal."""

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from polybake.base.files.printable import printable
from polybake.study.bench.figures import PERCENTILES, Comparison, Figures, ModelFigures, Row


def print_figures(figures: Figures, console: Console) -> None:
    """Print a table for each workload, then tables of the models' own figures."""

    def table(title: str, headings: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
        console.print(_table(title, headings, rows))
        console.print()

    for workload in figures.workloads:
        table(workload.title, headings(workload), map(cells, workload.rows))
    models = figures.models
    table(
        "files",
        FILE_HEADINGS,
        map(file_cells, models),
    )
    tokens = [batch.tokens for batch in models[0].batch_tokens]
    table(
        "texts/s by tokens of a batch",
        ("", *map(str, tokens)),
        ((one.name, *(f"{at.texts_per_second:.0f}" for at in one.batch_tokens)) for one in models),
    )
    for model in (model for model in models if model.parts):
        table(
            "where the time goes",
            (printable(model.name), *(at.workload for at in model.parts)),
            (
                (part, *(f"{at.share(part):.1%}" for at in model.parts))
                for part in model.parts[0].seconds
            ),
        )
    for line in (*failures(figures), *notes(figures)):
        console.print(Text(printable(line)), soft_wrap=True)


def headings(workload: Comparison) -> tuple[str, ...]:
    """Return the headings of the columns of `cells`."""
    latency = tuple(f"p{percent}" for percent in PERCENTILES)
    return ("", "threads", *(latency if workload.single else ("texts/s", "tokens/s")), *_LAST)


_LAST = ("ratio", "spread")

#: The headings of the columns of `file_cells`.
FILE_HEADINGS = (
    "", "precision", "MB", "cosine to\nexact", "opens in", "session and\ntokenizer alone"
)  # fmt: skip


def cells(row: Row) -> tuple[str, ...]:
    """Return a row's cells as text."""
    threads = "default" if row.threads is None else str(row.threads)
    if row.timing is None or row.ratio is None:
        return (row.label, threads, row.status)
    if row.latency:
        figures = [milliseconds(seconds) for seconds in row.latency.values()]
    else:
        figures = [f"{row.texts_per_second:,.0f}", f"{row.tokens_per_second:,.0f}"]
    spread = f"{row.timing.spread:.0%}" if len(row.timing.seconds) > 1 else "unknown"
    return (row.label, threads, *figures, f"{row.ratio:.2f} x", spread)


def file_cells(model: ModelFigures) -> tuple[str, ...]:
    """Return a model file's cells as text."""
    return (
        model.name,
        model.kind,
        f"{model.bytes / 1e6:.1f}",
        f"{model.deviation.mean_cosine:.5f}" if model.deviation else "exact",
        milliseconds(model.opening.median),
        milliseconds(model.bare_opening.median),
    )


def milliseconds(seconds: float) -> str:
    """Return seconds as milliseconds, with three digits."""
    value = 1000 * seconds
    return f"{value:.{0 if value >= 100 else 1 if value >= 10 else 2}f} ms"


def failures(figures: Figures) -> list[str]:
    """Return each reason why a client was not timed, once."""
    return list(
        dict.fromkeys(
            f"{'FAIL' if row.status.failed else 'SKIP'} {row.label}: {row.status}: {row.message}"
            for workload in figures.workloads
            for row in workload.rows
            if row.timing is None
        )
    )


def notes(figures: Figures) -> list[str]:
    """Describe how the figures were measured."""
    where, rounds = figures.environment, figures.rounds
    machine = f"{where.cpu}, {where.processors} processors"
    if where.device != "cpu":
        machine = f"{where.device} beside {machine}"
    versions = f"onnxruntime {where.onnxruntime}, polybake {where.polybake}, Python {where.python}"
    turns = f"{rounds} round{'s' * (rounds > 1)} in turns after a warm-up; medians"
    meaning = "ratios of speed to the first row; the spread is that of the rounds"
    lines = [f"{machine}; {versions}", f"{turns}, {meaning}"]
    if any(row.client for workload in figures.workloads for row in workload.rows):
        lines.append("clients answer through their harness, so JSON and base64 are in their time")
    return lines


def _table(title: str, headings: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    table = Table(
        title=Text(printable(title), style="bold"), title_justify="left", box=None,
        padding=(0, 2, 0, 0), pad_edge=False, header_style="",
    )  # fmt: skip
    for index, heading in enumerate(headings):
        table.add_column(heading, justify="right" if index else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(printable(cell)) for cell in row))
    return table
