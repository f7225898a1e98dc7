"""Draw a benchmark's figures: speed, precision by size, tokens of a batch, where the time goes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from polybake.base.files.printable import printable
from polybake.study.bench.figures import Comparison, Figures, Row
from polybake.study.bench.table import milliseconds
from polybake.study.plots import label, plotted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_WIDTH = 9.0
#: The height of a row of bars, of a panel without its rows, and of a panel of points, in inches.
_ROW, _FRAME, _POINTS = 0.3, 0.9, 3.2


def write_plot(path: Path, figures: Figures) -> None:
    """Draw all figures below each other."""
    profiled = figures.workloads if figures.models[0].parts else ()
    approximate = any(model.deviation for model in figures.models) and len(figures.models) > 1
    heights = [
        *(_FRAME + _ROW * len(workload.rows) for workload in figures.workloads),
        *([_POINTS] if approximate else []),
        _POINTS,
        *(_FRAME + 0.5 + _ROW * len(figures.models) for _ in profiled),
    ]
    with plotted(path, _WIDTH, sum(heights)) as figure:
        panels = iter(figure.subplots(len(heights), squeeze=False, height_ratios=heights)[:, 0])
        names = [model.name for model in figures.models]
        for workload in figures.workloads:
            _speeds(next(panels), workload, names)
        if approximate:
            _precision(next(panels), figures)
        _batch_tokens(next(panels), figures)
        for number, workload in enumerate(profiled):
            _time_parts(next(panels), figures, number, f"where the time goes: {workload.title}")


def _speeds(axes: Axes, workload: Comparison, models: list[str]) -> None:
    """Draw a bar for each row: texts a second, or the latency with its percentiles as marks."""
    for index, row in enumerate(workload.rows):
        color = f"C{models.index(row.model)}"
        latencies = [1000 * seconds for seconds in (row.latency or {}).values()]
        length = latencies[0] if latencies else row.texts_per_second or 0.0
        axes.barh(index, length, color=color)
        axes.plot(latencies[1:], [index] * len(latencies[1:]), "|", color=color, markersize=12)
        end = max([length, *latencies])
        axes.annotate(_speed(row), (end, index), (6, 0), textcoords="offset points", va="center")
    names = [label(_name(row)) for row in workload.rows]
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.margins(x=0.3)
    axes.set_xlim(left=0)
    axes.set_title(printable(workload.title), loc="left")
    axes.set_xlabel("ms of a call: p50, and marks at p90 and p99" if workload.single else "texts/s")


def _name(row: Row) -> str:
    if row.threads is None:
        return row.label
    return f"{row.label}, {row.threads} thread{'s' * (row.threads > 1)}"


def _speed(row: Row) -> str:
    if row.ratio is None or row.texts_per_second is None:
        return str(row.status)
    latency = row.latency
    speed = milliseconds(latency["p50"]) if latency else f"{row.texts_per_second:,.0f} texts/s"
    return f"{speed}  ({row.ratio:.2f} x)"


def _precision(axes: Axes, figures: Figures) -> None:
    """Draw each file's mean cosine to the exact vectors, with a line to the least."""
    for model in figures.models:
        deviation = model.deviation
        mean, least = (deviation.mean_cosine, deviation.min_cosine) if deviation else (1.0, 1.0)
        size = model.bytes / 1e6
        axes.errorbar(size, mean, [[mean - least], [0.0]], fmt="o", label=label(model.name))
    axes.set_xlim(left=0)
    axes.set_xlabel("MB of the file")
    axes.set_ylabel("cosine")
    axes.set_title("cosine to the exact vectors: the mean, with a line to the least", loc="left")
    axes.legend(loc="center right")


def _batch_tokens(axes: Axes, figures: Figures) -> None:
    ticks = [at.tokens for at in figures.models[0].batch_tokens]
    for model in figures.models:
        speeds = [at.texts_per_second for at in model.batch_tokens]
        axes.plot(ticks, speeds, "o-", label=label(model.name))
    axes.set_xscale("log", base=2)
    axes.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
    axes.set_ylim(bottom=0)
    axes.set_xlabel("tokens of a batch")
    axes.set_ylabel("texts/s")
    axes.set_title("at most 200 of the first texts; clients' batches have 512 tokens", loc="left")
    axes.legend()


def _time_parts(axes: Axes, figures: Figures, number: int, title: str) -> None:
    """Draw a bar for each model, divided into the shares of its time."""
    names = [label(model.name) for model in figures.models]
    profiles = [model.parts[number] for model in figures.models]
    starts = [0.0] * len(names)
    for part in profiles[0].seconds:
        shares = [100 * profile.share(part) for profile in profiles]
        axes.barh(names, shares, left=starts, label=part)
        starts = [start + share for start, share in zip(starts, shares, strict=True)]
    axes.invert_yaxis()
    axes.set_xlim(0, 100)
    axes.set_xlabel("%")
    axes.set_title(printable(title), loc="left")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.35), ncols=4, frameon=False)
