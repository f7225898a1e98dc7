"""The machine on which something was measured."""

from __future__ import annotations

import onnxruntime

from polybake import __version__
from polybake.runtime.processors import processors
from polybake.study.bench.environment import environment


def test_names_what_decides_the_speed() -> None:
    """The processor and the versions of the packages are named."""
    found = environment()
    assert found.cpu
    assert found.processors == processors()
    assert (found.onnxruntime, found.polybake) == (onnxruntime.__version__, __version__)
