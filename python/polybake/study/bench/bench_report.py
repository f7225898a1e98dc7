"""The figures as one self-contained HTML page, for a light and for a dark background."""

from collections.abc import Iterable, Sequence

from polybake.base.files.printable import escaped
from polybake.study.bench.chart import COLOURS, Bar, Point, bars, colour, plot, stacked
from polybake.study.bench.figures import PERCENTILES, Comparison, Figures
from polybake.study.bench.table import (
    FILE_HEADINGS,
    cells,
    failures,
    file_cells,
    headings,
    milliseconds,
    notes,
)

_STYLE = """
:root { color-scheme: light dark; --ground: #f8fafc; --ink: #0f172a; --quiet: #475569 }
@media (prefers-color-scheme: dark) { :root { --ground: #0f172a; --ink: #f1f5f9;
  --quiet: #b6c2d2 } }
body { background: var(--ground); color: var(--ink); margin: 2rem auto; max-width: 50rem;
  padding: 0 1rem; font: 15px/1.5 system-ui, -apple-system, 'Segoe UI', 'Noto Sans', sans-serif }
h1 { overflow-wrap: anywhere } h2 { margin: 2.2rem 0 .3rem } h3 { margin: 1rem 0 .2rem }
p, summary, th { color: var(--quiet) } p { margin: .2rem 0 .6rem } summary { cursor: pointer }
.fail { color: #dc2626; font-weight: 600; overflow-wrap: anywhere }
table { border-collapse: collapse; font-size: 13px; margin: .4rem 0 }
td, th { font-weight: 400; padding: .15rem 1.2rem .15rem 0; text-align: right; vertical-align: top }
td:first-child { overflow-wrap: anywhere; text-align: left }
.legend span { margin-right: 1rem; white-space: nowrap }
.legend i { border-radius: 3px; display: inline-block; height: 11px; margin-right: .35rem;
  width: 11px }
svg { display: block; height: auto; margin: .5rem 0; overflow: visible; width: 100% }
""" + "\n".join(f".c{n} {{ background: {colour} }}" for n, colour in enumerate(COLOURS))


def report(figures: Figures) -> str:
    """Write the page."""
    models = figures.models
    series = {model.name: place for place, model in enumerate(models)}
    names = ", ".join(series)
    page = [
        '<!DOCTYPE html>\n<html lang="en"><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>Benchmark of {escaped(names)}</title><style>{_STYLE}</style>",
        f"<h1>Benchmark of {escaped(names)}</h1>",
        *(f"<p>{_sentence(line)}." for line in notes(figures)),
        *(f'<p class="fail">{escaped(line)}' for line in failures(figures)),
    ]
    for one in figures.workloads:
        page += [_heading(one.title), _compared(one, series)]
        page.append(_details(_table(headings(one), map(cells, one.rows))))
    page += [_heading("Files"), _table(FILE_HEADINGS, map(file_cells, models))]
    if any(model.deviation for model in models) and len(models) > 1:
        page += [_heading("Precision and size"), _precision(figures)]
    page += [_heading("Tokens of a batch"), _batch_tokens(figures)]
    if models[0].parts:
        page += _where_time_goes(figures)
    return "\n".join([*page, "</html>", ""])


def _where_time_goes(figures: Figures) -> list[str]:
    parts = figures.models[0].parts[0].seconds
    page = [_heading("Where the time goes"), _legend(parts)]
    for place, one in enumerate(figures.workloads):
        shares = [
            (model.name, {part: model.parts[place].share(part) for part in parts})
            for model in figures.models
        ]
        page += [f"<h3>{_sentence(one.title)}</h3>", stacked(shares)]
    return page


def _compared(compared: Comparison, series: dict[str, int]) -> str:
    rows = []
    for row in compared.rows:
        label = row.label
        if row.threads is not None:
            label += f", {row.threads} thread{'s' * (row.threads > 1)}"
        if row.ratio is None or row.texts_per_second is None:
            rows.append(Bar(label, series[row.model], [], row.status))
        elif row.latency:
            found = list(row.latency.values())
            text = milliseconds(found[0]) + f"  ({row.ratio:.2f} x)"
            rows.append(Bar(label, series[row.model], found, text))
        else:
            text = f"{row.texts_per_second:,.0f} texts/s  ({row.ratio:.2f} x)"
            rows.append(Bar(label, series[row.model], [row.texts_per_second], text))
    of_calls = ", ".join(f"p{percent}" for percent in PERCENTILES)
    told = f"<p>Latency of a call; the marks are {of_calls}, the figure is the first."
    return told * compared.single + bars(rows)


def _precision(figures: Figures) -> str:
    points = []
    for model in figures.models:
        found = model.deviation
        mean, least = (found.mean_cosine, found.min_cosine) if found else (1.0, 1.0)
        points.append([Point(model.bytes / 1e6, mean, least, model.name)])
    lowest = min(point.low for one in points for point in one)
    told = (
        "<p>The mean cosine to the exact vectors over the golden cases, with a line to the least."
    )
    return told + plot(points, "MB of the file", "cosine", y_from=min(lowest, 0.999), y_to=1.0)


def _batch_tokens(figures: Figures) -> str:
    lines = [
        [Point(at.tokens, at.texts_per_second, at.texts_per_second) for at in model.batch_tokens]
        for model in figures.models
    ]
    ticks = [at.tokens for at in figures.models[0].batch_tokens]
    told = "<p>At most 200 of the first texts. The clients' batches have 512 tokens."
    names = _legend(model.name for model in figures.models)
    return told + names + plot(lines, "tokens of a batch", "texts/s", x_ticks=ticks)


def _legend(names: Iterable[str]) -> str:
    shown = "".join(
        f'<span><i class="{colour(number)}"></i>{escaped(name)}</span> '
        for number, name in enumerate(names)
    )
    return f'<p class="legend">{shown}</p>'


def _heading(text: str) -> str:
    return f"<h2>{_sentence(text)}</h2>"


def _table(names: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    head = "".join(f"<th>{escaped(name.replace(chr(10), ' '))}" for name in names)
    body = "".join(f"<tr>{''.join(f'<td>{escaped(cell)}' for cell in row)}" for row in rows)
    return f"<table><tr>{head}{body}</table>"


def _details(body: str) -> str:
    return f"<details><summary>figures</summary>{body}</details>"


def _sentence(text: str) -> str:
    return escaped(text[:1].upper() + text[1:])
