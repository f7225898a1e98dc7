"""Draw figures into a file with matplotlib."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polybake.base.files.atomic import replacing
from polybake.base.files.printable import printable
from polybake.errors import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: The formats of a plot, by the file's extension.
_FORMATS = ("svg", "png", "pdf")

#: The characters of the longest label, which else leaves no room for what it names.
_LONGEST = 32

#: Names come from files: ``$`` in one is no formula. An SVG's text stays text.
_SETTINGS: Any = {"text.parse_math": False, "svg.fonttype": "none", "svg.hashsalt": "polybake"}


def check_plot(path: Path | None) -> None:
    """Refuse a wrong extension, or an environment without matplotlib, before anything runs."""
    if path is None:
        return
    if path.suffix.lower().lstrip(".") not in _FORMATS:
        raise InputError(f"{path}: a plot is a .svg, .png or .pdf file; give it such a name")
    importlib.import_module("matplotlib")


@contextmanager
def plotted(path: Path, width: float, height: float) -> Iterator[Figure]:
    """Give a figure of this size in inches to draw on, and write it; equal figures, equal files."""
    import matplotlib
    from matplotlib.figure import Figure

    kind = path.suffix.lower().lstrip(".")
    dates = {"svg": "Date", "pdf": "CreationDate"}
    with matplotlib.rc_context(_SETTINGS), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph")  # a font without one draws a box
        figure = Figure((width, height), layout="constrained")
        yield figure
        metadata = {dates[kind]: None} if kind in dates else None
        with replacing(path) as file:
            figure.savefig(file, format=kind, dpi=150, metadata=metadata)


def label(text: str) -> str:
    """Return a label without control characters, and cut in its middle: names often end apart."""
    name, half = printable(text), _LONGEST // 2
    return name if len(name) <= _LONGEST else f"{name[: half - 1]}…{name[-half:]}"
