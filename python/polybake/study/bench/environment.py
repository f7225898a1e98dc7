"""Where something was measured."""

import platform

import onnxruntime as ort

from polybake import __version__
from polybake.runtime.processor_name import processor_name
from polybake.runtime.processors import processors
from polybake.study.bench.figures import Environment


def environment(device: str = "cpu") -> Environment:
    """This machine, and the versions that decide how fast it is."""
    return Environment(
        device=device,
        cpu=processor_name(),
        processors=processors(),
        system=platform.platform(),
        python=platform.python_version(),
        onnxruntime=ort.__version__,
        polybake=__version__,
    )
