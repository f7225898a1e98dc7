"""Draw how far vectors moved, and how many of their neighbours stayed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING

import numpy as np

from polybake.base.files.printable import printable
from polybake.study.diff.neighbours import NEAREST, Neighbours
from polybake.study.diff.parts import ModelParts
from polybake.study.diff.stage_result import StageResult
from polybake.study.diff.verdict import DiffVerdict
from polybake.study.plots import plotted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: The characters of a line of the title.
_LINE = 110

#: The edges of the bars of 1 - cosine: two for each power of ten.
_EDGES = np.logspace(-9, 1, 21)


def write_plot(
    path: Path,
    parts: ModelParts,
    stages: Sequence[StageResult],
    neighbours: Neighbours | None,
    verdict: DiffVerdict,
) -> None:
    """Draw 1 - cosine of each text, and beside it the share of neighbours that each text kept."""
    names = " -> ".join(str(head.path) for head in (parts.before, parts.after))
    with plotted(path, 9.5, 4.5) as figure:
        left, right = figure.subplots(1, 2)
        _distances(left, stages[-1] if len(stages) > 1 else None)
        _shares(right, neighbours)
        title = "\n".join(fill(printable(line), _LINE) for line in (str(verdict), names))
        figure.suptitle(title, fontsize="medium")


def _distances(axes: Axes, stage: StageResult | None) -> None:
    axes.set_title("1 - cosine of each text's two vectors")
    if stage is None or not stage.distances:
        axes.set_xlabel("none can be compared")
        return
    axes.hist(np.clip(np.asarray(stage.distances), _EDGES[0], _EDGES[-1]), _EDGES.tolist())
    limit = stage.tolerance.one_minus_cosine
    axes.axvline(limit, color="C1", linestyle="--", label=f"limit {limit:g}")
    axes.set_xscale("log")
    axes.set_xlabel(f"1 - cosine; equal vectors at {_EDGES[0]:g}")
    axes.set_ylabel("texts")
    axes.legend()


def _shares(axes: Axes, neighbours: Neighbours | None) -> None:
    mixed = neighbours is not None and neighbours.together is not None
    where = "old and new mixed" if mixed else "the new file alone"
    axes.set_title(f"neighbours that each text keeps, {where}")
    if neighbours is None:
        axes.set_xlabel("no texts were searched")
        return
    counts = np.rint(np.asarray(neighbours.shares) * NEAREST).astype(int)
    axes.bar(range(NEAREST + 1), np.bincount(counts, minlength=NEAREST + 1))
    axes.set_xticks(range(NEAREST + 1))
    axes.set_xlabel(f"of {NEAREST} nearest")
    axes.set_ylabel("texts")
