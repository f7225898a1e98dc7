"""Draw charts as SVG: bars, shares of bars, and points between axes."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from polybake.base.files.printable import escaped
from polybake.base.files.svg import Colours, Paint

#: Each stands out on a light and on a dark background, and white digits are readable on it.
COLOURS = (
    "#3b82f6", "#c2740a", "#059669", "#8b5cf6", "#db2777", "#64748b", "#0891b2", "#dc2626"
)  # fmt: skip

_OWN: dict[str, Colours] = {
    "line-grid": ("none", "#e2e8f0", "none", "#334155"),
    "on": ("#ffffff", "none", "#ffffff", "none"),
}
_PAINT = Paint(
    "polybake-chart",
    _OWN
    | {f"c{place}": (one, "none", one, "none") for place, one in enumerate(COLOURS)}
    | {f"line-c{place}": ("none", one, "none", one) for place, one in enumerate(COLOURS)},
)

_WIDTH = 760
#: Where bars begin and where the longest ends: names stand before them, figures behind.
_LEFT, _RIGHT = 220, 600
_ROW = 26
_LONGEST = 32

#: Sizes of a plot with axes.
_TOP, _HEIGHT, _BOTTOM, _MARGIN = 28, 230, 44, 64


@dataclass(frozen=True)
class Bar:
    """A row of a bar chart.

    Attributes:
        label: The text before the bar.
        series: The series, which decides the colour.
        values: One value for a bar, several for marks on a line, empty for no bar.
        text: The text behind the bar.
    """

    label: str
    series: int
    values: Sequence[float]
    text: str


@dataclass(frozen=True)
class Point:
    """A point of a plot, with a line down to ``low``, and its name."""

    x: float
    y: float
    low: float
    name: str = ""


def bars(rows: Sequence[Bar]) -> str:
    """Draw a bar for each row, to scale; several values become marks on a line."""
    largest = max(value for row in rows for value in row.values)
    drawn = []
    for place, row in enumerate(rows):
        y = place * _ROW + _ROW / 2
        ends = [_LEFT + (_RIGHT - _LEFT) * value / largest for value in row.values]
        if len(ends) == 1:
            drawn.append(_rectangle(_LEFT, y - 8, ends[0] - _LEFT, 16, colour(row.series)))
        elif ends:
            drawn.append(_marks(row, ends, y))
        drawn += [_name(row.label, y), _text((ends or [_LEFT])[-1] + 8, y + 4, row.text, "quiet")]
    return _PAINT.picture(_WIDTH, len(rows) * _ROW, drawn)


def stacked(rows: Sequence[tuple[str, Mapping[str, float]]]) -> str:
    """Draw bars of equal length, divided into shares that sum to 1."""
    drawn = []
    for place, (label, shares) in enumerate(rows):
        y, x = place * _ROW + _ROW / 2, float(_LEFT)
        drawn.append(_name(label, y))
        for part, (name, share) in enumerate(shares.items()):
            width = (_WIDTH - _LEFT) * share
            told = f"{name}: {share:.1%}"
            drawn.append(_rectangle(x, y - 10, width, 20, colour(part), told))
            if share >= 0.05:
                drawn.append(_text(x + width / 2, y + 4, f"{share:.0%}", "on", "middle"))
            x += width
    return _PAINT.picture(_WIDTH, len(rows) * _ROW, drawn)


def plot(
    series: Sequence[Sequence[Point]],
    x_title: str,
    y_title: str,
    *,
    x_ticks: Sequence[float] = (),
    y_from: float = 0.0,
    y_to: float | None = None,
) -> str:
    """Draw points, joined by a line within each series.

    Args:
        series: The points of each series, ordered by x.
        x_title, y_title: Titles of the axes.
        x_ticks: The marks of a logarithmic x axis; empty means a linear axis from 0.
        y_from, y_to: Where the y axis begins and ends; without an end, above all points.
    """
    points = [point for one in series for point in one]
    y_ticks = _ticks(y_from, max(point.y for point in points) if y_to is None else y_to)
    scale = math.log if x_ticks else float
    x_ticks = x_ticks or _ticks(0.0, max(point.x for point in points))
    low, high = scale(x_ticks[0]), scale(x_ticks[-1])

    def across(x: float) -> float:
        return _MARGIN + (_WIDTH - 2 * _MARGIN) * (scale(x) - low) / (high - low)

    def up(y: float) -> float:
        return _TOP + _HEIGHT * (y_ticks[-1] - y) / (y_ticks[-1] - y_ticks[0])

    drawn = [
        *(_line(_MARGIN, up(y), _WIDTH - _MARGIN, up(y), "grid") for y in y_ticks),
        *(_text(_MARGIN - 8, up(y) + 4, _number(y), "quiet", "end") for y in y_ticks),
        *(_text(across(x), _TOP + _HEIGHT + 18, _number(x), "quiet", "middle") for x in x_ticks),
        _text(_WIDTH / 2, _TOP + _HEIGHT + 38, x_title, "quiet", "middle"),
        _text(0, 12, y_title, "quiet"),
    ]
    for number, one in enumerate(series):
        kind = colour(number)
        path = " ".join(f"{across(point.x):.1f},{up(point.y):.1f}" for point in one)
        drawn.append(_PAINT.shape("polyline", f"line-{kind}", points=path, stroke_width=2))
        for point in one:
            x, y = across(point.x), up(point.y)
            drawn += [_line(x, y, x, up(point.low), kind), _circle(x, y, kind)]
            if x > _WIDTH / 2:
                drawn.append(_text(x - 10, y + 16, _short(point.name), "ink", "end"))
            else:
                drawn.append(_text(x + 10, y + 16, _short(point.name)))
    return _PAINT.picture(_WIDTH, _TOP + _HEIGHT + _BOTTOM, drawn)


def colour(number: int) -> str:
    """Return the CSS class of a series, or of a part of a bar."""
    return f"c{number % len(COLOURS)}"


def _ticks(low: float, high: float) -> list[float]:
    """Return round numbers that span ``low`` to ``high``."""
    step = 10 ** math.floor(math.log10((high - low) / 4))
    step *= next(times for times in (1, 2, 5, 10) if (high - low) / (step * times) <= 6)
    first, last = math.floor(low / step), math.ceil(high / step - 1e-9)
    return [round(place * step, 12) for place in range(first, last + 1)]


def _marks(row: Bar, ends: Sequence[float], y: float) -> str:
    kind = colour(row.series)
    inner = "".join(_line(x, y - 6, x, y + 6, kind) for x in ends[1:])
    return _line(ends[0], y, ends[-1], y, kind) + inner + _circle(ends[0], y, kind)


def _name(label: str, y: float) -> str:
    return f"<g><title>{escaped(label)}</title>{_text(0, y + 4, _short(label))}</g>"


def _rectangle(x: float, y: float, width: float, height: float, kind: str, told: str = "") -> str:
    return _PAINT.shape("rect", kind, told, x=x, y=y, width=max(width, 0.0), height=height)


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    width = 1 if kind == "grid" else 2
    return _PAINT.shape("line", f"line-{kind}", x1=x1, y1=y1, x2=x2, y2=y2, stroke_width=width)


def _circle(x: float, y: float, kind: str) -> str:
    return _PAINT.shape("circle", kind, cx=x, cy=y, r=4)


def _text(x: float, y: float, text: str, kind: str = "ink", anchor: str = "start") -> str:
    return _PAINT.text(x, y, text, f'text-anchor="{anchor}"', paint=kind) if text else ""


def _number(value: float) -> str:
    return f"{value:,.10g}"


def _short(text: str) -> str:
    """Cut a long text in its middle, as names often differ in the last part."""
    half = _LONGEST // 2
    return text if len(text) <= _LONGEST else f"{text[: half - 1]}…{text[-half:]}"
