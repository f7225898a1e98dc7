"""Draw as SVG how far vectors moved, and how many of their neighbours stayed."""

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from textwrap import wrap

from polybake.base.files.atomic import replacing
from polybake.base.files.svg import Paint
from polybake.errors import InputError
from polybake.study.diff.neighbours import NEAREST, Neighbours
from polybake.study.diff.parts import ModelParts
from polybake.study.diff.seen import Seen
from polybake.study.diff.verdict import DiffVerdict

_WIDTH, _HEIGHT = 860, 356
_MARGIN, _PANEL = 36, 370
#: The y of the bars' feet, and the height of the highest bar.
_GROUND, _HIGHEST = 316, 170
#: The characters of a line that no font makes wider than the picture, and the height of a line.
_LONGEST, _LINE = 108, 17

#: The lowest and the highest power of ten of 1 - cosine, and the bars per power.
_LOW, _HIGH, _EACH = -9, 1, 2

_PAINT = Paint(
    "polybake-diff",
    {
        "bar": ("#3b82f6", "none", "#60a5fa", "none"),
        "limit": ("none", "#c2410c", "none", "#fb923c"),
        "axis": ("none", "#94a3b8", "none", "#64748b"),
    },
)


def check_picture(path: Path | None) -> None:
    """Refuse a wrong file extension before anything runs.

    Raises:
        InputError: The name does not end in .svg.
    """
    if path is not None and path.suffix.lower() != ".svg":
        raise InputError(f"{path}: a picture is an .svg file; give it such a name")


def write_picture(
    path: Path,
    parts: ModelParts,
    stages: Sequence[Seen],
    neighbours: Neighbours | None,
    verdict: DiffVerdict,
) -> None:
    """Draw 1 - cosine of each text, and beside it the share of neighbours that each text kept."""
    names = " -> ".join(str(head.path) for head in (parts.before, parts.after))
    told = [line for text in (verdict.reason, names) for line in wrap(text, _LONGEST)]
    lower = _LINE * max(len(told) - 2, 0)
    drawn = [
        _PAINT.text(_MARGIN, 40, f"{verdict.question}: {verdict.answer}", 'font-size="18"'),
        *(
            _PAINT.text(_MARGIN, 64 + _LINE * at, line, paint="quiet")
            for at, line in enumerate(told)
        ),
        f'<g transform="translate(0 {lower})">',
        *_distances(stages[-1] if len(stages) > 1 else None),
        *_shares(neighbours),
        "</g>",
    ]
    whole = _PAINT.picture(_WIDTH, _HEIGHT + lower, drawn, f"{names}: {verdict}")
    with replacing(path) as file:
        file.write(whole.encode("utf-8"))


def _distances(seen: Seen | None) -> Iterator[str]:
    """Draw a bar for each half of a power of ten, and a line at the limit."""
    yield _PAINT.text(_MARGIN, 122, "1 - cosine of each text's two vectors")
    if seen is None or not seen.distances:
        yield _PAINT.text(_MARGIN, 146, "none can be compared", paint="quiet")
        return
    counts = [0] * (_EACH * (_HIGH - _LOW))
    for distance in seen.distances:
        power = math.log10(distance) if distance > 0 else float(_LOW)
        counts[min(max(math.floor(_EACH * (power - _LOW)), 0), len(counts) - 1)] += 1
    step = _PANEL / len(counts)
    ticks = [(power, f"1e{power}" if power else "1") for power in range(_LOW, _HIGH, 2)]
    yield from _bars(_MARGIN, counts, "texts")
    for power, label in ticks:
        x = _MARGIN + _EACH * (power - _LOW) * step
        first = "≤ " if power == _LOW else ""
        yield _PAINT.text(x, _GROUND + 18, first + label, 'text-anchor="middle"', paint="quiet")
    limit = math.log10(seen.tolerance.one_minus_cosine)
    x = _MARGIN + _EACH * (min(max(limit, _LOW), _HIGH) - _LOW) * step
    yield _PAINT.shape(
        "line", "limit", stroke_dasharray="5 4", stroke_width=1.5,
        x1=x, y1=_GROUND - _HIGHEST - 8, x2=x, y2=_GROUND,
    )  # fmt: skip
    told = f"limit {seen.tolerance.one_minus_cosine:g}"
    yield _PAINT.text(x + 6, _GROUND - _HIGHEST, told, paint="quiet")


def _shares(neighbours: Neighbours | None) -> Iterator[str]:
    """Draw a bar for each number of neighbours that a text may have kept."""
    left = _WIDTH - _MARGIN - _PANEL
    meet = neighbours is not None and neighbours.together is not None
    where = "old and new mixed" if meet else "the new file alone"
    yield _PAINT.text(left, 122, f"Neighbours of {NEAREST} that each text finds, {where}")
    if neighbours is None:
        yield _PAINT.text(left, 146, "no texts were searched", paint="quiet")
        return
    counts = [0] * (NEAREST + 1)
    for share in neighbours.shares:
        counts[round(share * NEAREST)] += 1
    yield from _bars(left, counts, "texts")
    step = _PANEL / len(counts)
    for number in range(len(counts)):
        x = left + (number + 0.5) * step
        yield _PAINT.text(x, _GROUND + 18, str(number), 'text-anchor="middle"', paint="quiet")


def _bars(left: float, counts: Sequence[int], unit: str) -> Iterator[str]:
    step, most = _PANEL / len(counts), max(counts)
    for place, count in enumerate(counts):
        if count:
            x, height = left + place * step, max(_HIGHEST * count / most, 1.5)
            yield _PAINT.shape(
                "rect", "bar", f"{count} {unit}",
                x=x + 1.5, y=_GROUND - height, width=step - 3, height=height, rx=2,
            )  # fmt: skip
            middle = 'text-anchor="middle" font-size="10"'
            yield _PAINT.text(x + step / 2, _GROUND - height - 4, str(count), middle, paint="quiet")
    yield _PAINT.shape("path", "axis", d=f"M{left} {_GROUND}h{_PANEL}")
