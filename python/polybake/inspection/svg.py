"""Draw a graph's picture as SVG: one file, readable on light and on dark ground."""

from __future__ import annotations

from html import escape

from polybake.files.printable import printable
from polybake.inspection.boxes import Box, Picture
from polybake.inspection.layout import Layout, Place, lay_out

#: Of one character, in pixels: of a title of 14 pixels, and of text of 12.
_TITLE, _TEXT = 8.2, 6.7
_LONGEST = 46
_MARGIN = 28.0
_HEADER = 64.0
_SMALLEST_BOX = 120.0
#: Straight down from a box, beside its shape, before an arrow turns.
_TRUNK = 26.0
#: How far the boxes lie behind one that stands for several.
_BEHIND = 7.0

_NAMESPACE = "http://www.w3.org/2000/svg"
_ARROW_HEAD = (
    '<defs><marker id="polybake-head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" '
    'markerHeight="8" orient="auto"><path class="head" d="M0 0 8 4 0 8z"/></marker></defs>'
)

_STYLE = """
.polybake { --ground: #f8fafc; --ink: #0f172a; --quiet: #475569; --line: #64748b;
  --input: #e0f2fe; --input-line: #0369a1; --encoder: #ffffff; --encoder-line: #334155;
  --step: #fef3c7; --step-line: #b45309; --output: #dcfce7; --output-line: #15803d;
  font-family: system-ui, -apple-system, 'Segoe UI', 'Noto Sans', sans-serif }
@media (prefers-color-scheme: dark) { .polybake { --ground: #0f172a; --ink: #f1f5f9;
  --quiet: #b6c2d2; --line: #94a3b8; --input: #0c3550; --input-line: #38bdf8;
  --encoder: #1e293b; --encoder-line: #94a3b8; --step: #4a2c0a; --step-line: #fbbf24;
  --output: #0f3d24; --output-line: #4ade80 } }
.polybake .ground { fill: var(--ground) }
.polybake text { fill: var(--ink); font-size: 12px }
.polybake .title { font-size: 14px; font-weight: 600 }
.polybake .name { font-size: 18px; font-weight: 600 }
.polybake .quiet { fill: var(--quiet) }
.polybake .shape { fill: var(--quiet); stroke: var(--ground); stroke-width: 5px;
  stroke-linejoin: round; paint-order: stroke }
.polybake .arrow { fill: none; stroke: var(--line); stroke-width: 1.5 }
.polybake .head { fill: var(--line) }
.polybake rect { stroke-width: 1.5 }
.polybake .input { fill: var(--input); stroke: var(--input-line) }
.polybake .encoder { fill: var(--encoder); stroke: var(--encoder-line) }
.polybake .step { fill: var(--step); stroke: var(--step-line) }
.polybake .output { fill: var(--output); stroke: var(--output-line) }
"""


def svg(picture: Picture, name: str, line: str) -> str:
    """Draw the picture.

    Args:
        picture: What is drawn.
        name: Of the model, above the picture.
        line: What the model is in a line, below its name.
    """
    footprints = [
        (max(_width(box), 2 * (14 + _TEXT * len(_short(shape)))), _height(box) + _depth(box))
        for box, shape in zip(picture.boxes, picture.shapes, strict=True)
    ]
    inputs = [at for at, box in enumerate(picture.boxes) if box.kind == "input"]
    layout = lay_out(footprints, picture.arrows, inputs)
    header = max(_TITLE * 1.3 * len(_short(name)), _TEXT * len(line))
    width = max(layout.width, header) + 2 * _MARGIN
    height = layout.height + _HEADER + 2 * _MARGIN
    left = (width - layout.width) / 2
    size = f'width="{width:.0f}" height="{height:.0f}"'
    return "\n".join(
        [
            (
                f'<svg xmlns="{_NAMESPACE}" class="polybake" role="img" {size} '
                f'viewBox="0 0 {width:.0f} {height:.0f}">'
            ),
            f"<title>{_text(name)}: {_text(line)}</title>",
            f"<style>{_STYLE}</style>",
            _ARROW_HEAD,
            f'<rect class="ground" {size}/>',
            f'<text class="name" x="{_MARGIN}" y="{_MARGIN + 16}">{_text(_short(name))}</text>',
            f'<text class="quiet" x="{_MARGIN}" y="{_MARGIN + 38}">{_text(line)}</text>',
            f'<g transform="translate({left:.1f} {_MARGIN + _HEADER})">',
            *_arrows(layout),
            *(_box(box, place) for box, place in zip(picture.boxes, layout.places, strict=True)),
            *(
                _shape(shape, place)
                for shape, place in zip(picture.shapes, layout.places, strict=True)
                if shape
            ),
            "</g>",
            "</svg>",
            "",
        ]
    )


def _box(box: Box, place: Place) -> str:
    width, height = _width(box), _height(box)
    x, y = place.x - width / 2, place.y
    behind = "".join(
        f'<rect class="{box.kind}" x="{x + shift:.1f}" y="{y + shift:.1f}" width="{width:.1f}" '
        f'height="{height:.1f}" rx="7"/>'
        for shift in ((_BEHIND, _BEHIND / 2, 0.0) if box.times > 1 else (0.0,))
    )
    middle = y + (height / 2 + 5 if not box.detail else 23)
    detail = (
        f'<text class="quiet" x="{place.x:.1f}" y="{y + 42:.1f}">{_text(_short(box.detail))}</text>'
        if box.detail
        else ""
    )
    return (
        f'<g text-anchor="middle"><title>{_text(_title(box))}: {_text(box.detail)}</title>{behind}'
        f'<text class="title" x="{place.x:.1f}" y="{middle:.1f}">{_text(_short(_title(box)))}'
        f"</text>{detail}</g>"
    )


def _shape(shape: str, place: Place) -> str:
    """Beside the line that leaves a box, on the side that it does not turn to."""
    right = sum(one.x - place.x for one in place.below) <= 0
    x = place.x + (9 if right else -9)
    anchor = "start" if right else "end"
    y = place.y + place.height + 19
    return (
        f'<text class="shape" text-anchor="{anchor}" x="{x:.1f}" y="{y:.1f}">'
        f"{_text(_short(shape))}</text>"
    )


def _arrows(layout: Layout) -> list[str]:
    paths = []
    for place in (*layout.places, *layout.lanes):
        start = place.y + place.height
        for below in place.below:
            x = below.x if below.lane else below.x + _landing(place, below)
            turn = start if place.lane else start + _TRUNK
            middle = (turn + below.y) / 2
            through = f"V{below.y + below.height:.1f}" if below.lane else ""
            head = "" if below.lane else ' marker-end="url(#polybake-head)"'
            paths.append(
                f'<path class="arrow"{head} d="M{place.x:.1f} {start:.1f}V{turn:.1f}C{place.x:.1f} '
                f'{middle:.1f} {x:.1f} {middle:.1f} {x:.1f} {below.y:.1f}{through}"/>'
            )
    return paths


def _landing(above: Place, below: Place) -> float:
    """How far from the middle an arrow meets a box, so that several lie side by side."""
    order = sorted(below.above, key=lambda one: one.x)
    apart = min(22.0, (_SMALLEST_BOX - 30) / len(order))
    return (order.index(above) - (len(order) - 1) / 2) * apart


def _title(box: Box) -> str:
    return f"{box.title} × {box.times}" if box.times > 1 else box.title


def _width(box: Box) -> float:
    title, detail = _short(_title(box)), _short(box.detail)
    return max(_SMALLEST_BOX, _TITLE * len(title) + 28, _TEXT * len(detail) + 28)


def _height(box: Box) -> float:
    return 56.0 if box.detail else 38.0


def _depth(box: Box) -> float:
    return _BEHIND if box.times > 1 else 0.0


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _text(text: str) -> str:
    return escape(printable(text))
