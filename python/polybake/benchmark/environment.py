"""Where something was measured."""

import platform
import re
from pathlib import Path

import onnxruntime as ort

from polybake import __version__
from polybake.benchmark.figures import Environment
from polybake.runtime.processors import processors

_CPU = re.compile(r"^model name\s*:\s*(.+)$", re.MULTILINE)


def environment(device: str = "cpu") -> Environment:
    """This machine, and the versions that decide how fast it is."""
    return Environment(
        device=device,
        cpu=_cpu(Path("/proc/cpuinfo")),
        processors=processors(),
        system=platform.platform(),
        python=platform.python_version(),
        onnxruntime=ort.__version__,
        polybake=__version__,
    )


def _cpu(information: Path) -> str:
    """What the processor calls itself; Arm's does not say it there."""
    try:
        found = _CPU.search(information.read_text(encoding="utf-8", errors="replace"))
    except OSError:
        found = None
    return found[1].strip() if found else platform.processor() or platform.machine()
