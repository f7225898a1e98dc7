"""The comparison as a picture: a bar for each row and workload, in groups by language."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("svg")
from matplotlib import pyplot
from matplotlib.patches import Patch
from results import LANGUAGES, Row, ours, rate, timed

PANELS = {"short": "{:,} short texts", "long": "{:,} long texts", "single": "One text at a time"}
COLORS = {
    ("polybake", "float32"): "#0369a1",
    ("polybake", "int8"): "#7cc4ea",
    ("others", "float32"): "#64748b",
    ("others", "bfloat16"): "#94a3b8",
    ("others", "int8"): "#c3ccd8",
}
_INK, _PALE = "#0f172a", "#475569"
#: Text stays text, and the same results give the same file.
_STYLE: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "peers",
    "font.family": ["DejaVu Sans"],
    "font.size": 10.5,
    "text.color": _INK,
}


def draw(found: dict[str, Any], file: Path) -> None:
    """Write the picture as SVG; rows that were left out are not in it."""
    rows = timed(found)
    places = _places(rows)
    with pyplot.rc_context(_STYLE):
        height = 0.27 * (max(places) + 1) + 1.1
        figure, axes = pyplot.subplots(1, len(PANELS), figsize=(11, height), sharey=True)
        for axis, (workload, title) in zip(axes, PANELS.items(), strict=True):
            rates = [rate(found, row, workload) for row in rows]
            axis.barh(places, rates, height=0.74, color=[_color(row) for row in rows])
            for place, value in zip(places, rates, strict=True):
                axis.text(value + max(rates) / 60, place, f"{value:,.0f}", va="center", color=_PALE)
            axis.set_title(
                title.format(found["texts"][workload]),
                loc="left",
                fontsize=11.5,
                color=_INK,
                weight="bold",
            )
            axis.set_xlim(0, max(rates) * 1.16)
            axis.tick_params(bottom=False, labelbottom=False, left=False)
            axis.spines[["top", "right", "bottom"]].set_visible(False)
            axis.spines["left"].set_color("#cbd5e1")
        axes[0].set_ylim(max(places) + 0.6, -0.5)
        axes[0].set_yticks(places, [row["title"] for row in rows], color=_INK)
        _headings(axes[0], rows, places)
        _legend(figure, rows)
        figure.tight_layout(rect=(0, 0, 1, 1 - 0.42 / height), w_pad=1.5)
        figure.savefig(file, metadata={"Date": None}, facecolor="white")
        pyplot.close(figure)


def _places(rows: list[Row]) -> list[float]:
    """A line for each row, and one before each language for its name."""
    places, line = [], 0.0
    for number, row in enumerate(rows):
        if number == 0 or row["language"] != rows[number - 1]["language"]:
            line += 1.25 if number else 1
        places.append(line)
        line += 1
    return places


def _headings(axis: Any, rows: list[Row], places: list[float]) -> None:
    seen = set()
    for row, place in zip(rows, places, strict=True):
        if row["language"] not in seen:
            seen.add(row["language"])
            axis.text(
                -0.035, place - 1, LANGUAGES[row["language"]], va="center", ha="right",
                weight="bold", transform=axis.get_yaxis_transform(),
            )  # fmt: skip


def _color(row: Row) -> str:
    whose = "polybake" if ours(row) else "others"
    return COLORS[whose, row["precision"]]


def _legend(figure: Any, rows: list[Row]) -> None:
    shown = {_color(row) for row in rows}
    kinds = {color: kind for kind, color in COLORS.items() if color in shown}
    figure.legend(
        [Patch(color=color) for color in kinds],
        [f"{whose}, {precision}" for whose, precision in kinds.values()],
        title="Texts a second: longer is faster", title_fontproperties={"weight": "bold"},
        loc="upper left", ncols=4, frameon=False, handlelength=1, alignment="left",
        bbox_to_anchor=(0.005, 1.0), borderpad=0,
    )  # fmt: skip
