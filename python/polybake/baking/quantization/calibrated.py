"""The products of a graph, each group with the statistics of what it multiplies."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from onnxscript import ir

from polybake.baking.quantization.calibration import Calibration, Statistics
from polybake.baking.quantization.products import Group, groups
from polybake.base.modelfile.manifest import Contract

#: Bytes of the statistics that are held at a time; each window runs all texts.
_HELD = 2 << 30


def calibrated(
    model: ir.Model, contract: Contract, rows: Sequence[Sequence[int]], folder: Path
) -> Iterator[tuple[Group, Statistics]]:
    """Yield the groups of ``model`` in its order; each may be rewritten before the next."""
    found = groups(model.graph)
    calibration = Calibration.of(
        model, [value for group in found for value in group.values], contract, rows, folder
    )
    for window in _windows(found):
        yield from zip(window, calibration.statistics(window), strict=True)


def _windows(found: Sequence[Group]) -> Iterator[list[Group]]:
    """The groups whose statistics are held at a time."""
    window: list[Group] = []
    held = 0
    for group in found:
        size = 4 * group.inputs**2
        if window and held + size > _HELD:
            yield window
            window, held = [], 0
        window.append(group)
        held += size
    if window:
        yield window
