"""Where something was measured."""

from __future__ import annotations

from pathlib import Path

import onnxruntime

from polybake import __version__
from polybake.benchmark import environment as module
from polybake.benchmark.environment import environment
from polybake.runtime.processors import processors


def test_names_what_decides_the_speed() -> None:
    """The processor and the versions."""
    found = environment()
    assert found.cpu
    assert found.processors == processors()
    assert (found.onnxruntime, found.polybake) == (onnxruntime.__version__, __version__)


def test_what_the_processor_calls_itself(tmp_path: Path) -> None:
    """The first of several; elsewhere what Python says."""
    file = tmp_path / "cpuinfo"
    file.write_text("processor\t: 0\nmodel name\t: A CPU @ 2 GHz \nmodel name\t: B\n")
    assert module._cpu(file) == "A CPU @ 2 GHz"
    file.write_text("CPU implementer\t: 0x41\n")
    assert module._cpu(file) == module._cpu(tmp_path / "none")
