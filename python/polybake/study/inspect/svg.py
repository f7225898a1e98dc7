"""Draw a graph's picture as one SVG file, readable on a light and on a dark background."""

from collections.abc import Sequence

from polybake.base.files.printable import escaped
from polybake.base.files.svg import Paint
from polybake.study.inspect.boxes import Box, Picture
from polybake.study.inspect.layout import BOX, Point, lay_out

#: The width of a character in pixels: in a title of 14 pixels, and in text of 12 pixels.
_TITLE, _TEXT = 8.6, 6.7
_LONGEST = 46
_MARGIN = 28.0
_HEADER = 64.0
_SMALLEST_BOX = 120.0
#: How far an arrow runs straight down from its box, beside the shape, before it turns.
_TRUNK = 28.0
#: The offset of the boxes drawn behind a box that stands for several.
_BEHIND = 7.0

_PAINT = Paint(
    "polybake",
    {
        "arrow": ("none", "#64748b", "none", "#94a3b8"),
        "head": ("#64748b", "none", "#94a3b8", "none"),
        "input": ("#e0f2fe", "#0369a1", "#0c3550", "#38bdf8"),
        "encoder": ("#ffffff", "#334155", "#1e293b", "#94a3b8"),
        "step": ("#fef3c7", "#b45309", "#4a2c0a", "#fbbf24"),
        "output": ("#dcfce7", "#15803d", "#0f3d24", "#4ade80"),
    },
)
_HEAD = (
    '<defs><marker id="polybake-head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" '
    f'markerHeight="8" orient="auto"><path {_PAINT["head"]} d="M0 0 8 4 0 8z"/></marker></defs>'
)


def svg(picture: Picture, name: str, line: str) -> str:
    """Draw the picture.

    Args:
        picture: The picture to draw.
        name: The model's name, above the picture.
        line: A line about the model, below its name.
    """
    name, boxes, shapes = _short(name), picture.boxes, [_short(one) for one in picture.shapes]
    widths = [
        max(_width(box), 2 * (14 + _TEXT * len(shape)))
        for box, shape in zip(boxes, shapes, strict=True)
    ]
    inputs = [at for at, box in enumerate(boxes) if box.kind == "input"]
    layout = lay_out(widths, picture.arrows, inputs)
    width = max(layout.width, _TITLE * 1.3 * len(name), _TEXT * len(line)) + 2 * _MARGIN
    height = layout.height + _HEADER + 2 * _MARGIN
    return _PAINT.picture(
        width,
        height,
        [
            _HEAD,
            _label(name, _MARGIN, _MARGIN + 16, 'font-size="18" font-weight="600"'),
            _label(line, _MARGIN, _MARGIN + 38, paint="quiet"),
            f'<g transform="translate({(width - layout.width) / 2:.1f} {_MARGIN + _HEADER})">',
            *map(_arrow, layout.paths),
            *map(_box, boxes, layout.places),
            *(
                _label(shape, x + 9, y + BOX + 22, paint="quiet")
                for shape, (x, y) in zip(shapes, layout.places, strict=True)
            ),
            "</g>",
        ],
        f"{name}: {line}",
    )


def _box(box: Box, place: Point) -> str:
    (x, y), title, width = place, _title(box), _width(box)
    behind = (_BEHIND, _BEHIND / 2, 0.0) if box.times > 1 else (0.0,)
    rectangles = (
        _PAINT.shape(
            "rect", box.kind, stroke_width=1.5, rx=7,
            x=x - width / 2 + shift, y=y + shift, width=width, height=BOX,
        )
        for shift in behind
    )  # fmt: skip
    return (
        f'<g text-anchor="middle"><title>{escaped(title)}: {escaped(box.detail)}</title>'
        + "".join(rectangles)
        + _label(
            _short(title), x, y + (23 if box.detail else 33), 'font-size="14" font-weight="600"'
        )
        + _label(_short(box.detail), x, y + 42, paint="quiet")
        + "</g>"
    )


def _arrow(path: Sequence[Point]) -> str:
    """Draw an arrow straight down, then in curves; straight beside the rows that it passes."""
    (x, y), *rest = path
    y += _TRUNK
    drawn = [f"M{x:.1f} {y - _TRUNK:.1f}V{y:.1f}"]
    for to_x, to_y in rest:
        middle = (y + to_y) / 2
        drawn.append(f"C{x:.1f} {middle:.1f} {to_x:.1f} {middle:.1f} {to_x:.1f} {to_y:.1f}")
        x, y = to_x, to_y
    return _PAINT.shape(
        "path", "arrow", stroke_width=1.5, marker_end="url(#polybake-head)", d="".join(drawn)
    )


def _label(text: str, x: float, y: float, style: str = "", *, paint: str = "ink") -> str:
    return _PAINT.text(x, y, text, style, paint=paint) if text else ""


def _title(box: Box) -> str:
    return f"{box.title} × {box.times}" if box.times > 1 else box.title


def _width(box: Box) -> float:
    title, detail = len(_short(_title(box))), len(_short(box.detail))
    return max(_SMALLEST_BOX, _TITLE * title + 28, _TEXT * detail + 28)


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
