"""The machine and the versions that a measurement was made with."""

import platform

import onnxruntime as ort

from polybake import __version__
from polybake.runtime.processor_name import processor_name
from polybake.runtime.processors import processors
from polybake.study.bench.figures import Environment


def environment(device: str = "cpu") -> Environment:
    """Return this machine and the versions that decide its speed."""
    return Environment(
        device=device,
        cpu=processor_name(),
        processors=processors(),
        system=platform.platform(),
        python=platform.python_version(),
        onnxruntime=ort.__version__,
        polybake=__version__,
    )
