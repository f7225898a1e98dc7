"""polybake: one model file, every language, the same vectors.

    import polybake

    polybake.bake("models/all-MiniLM-L6-v2", "minilm.onnx")
    polybake.generate("minilm.onnx", "clients")
    polybake.verify("minilm.onnx", "clients", prepare=True).exit_code()
    polybake.Embedder("minilm.onnx").embed(["Hello, world"])

Each imports what it needs when it is first used: `bake` and `Embedder` need ``polybake[bake,cpu]``.
"""

from __future__ import annotations

import importlib
import os
import sys
import warnings
from typing import TYPE_CHECKING, Any

from polybake.errors import missing_package

__version__ = "0.1.0"

# ONNX Runtime sends telemetry from the moment it is imported. Source: its docs/Privacy.md.
if not os.environ.get("ORT_DISABLE_TELEMETRY"):
    if "onnxruntime" in sys.modules:
        warnings.warn(
            "onnxruntime was imported before polybake and without ORT_DISABLE_TELEMETRY, so it may "
            "send telemetry; import polybake first, or start Python with ORT_DISABLE_TELEMETRY=1 "
            "(=0 allows the telemetry)",
            RuntimeWarning,
            stacklevel=2,
        )
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"

if TYPE_CHECKING:
    from polybake import layers as layers
    from polybake import steps as steps
    from polybake import testing as testing
    from polybake.baking.api import bake
    from polybake.generation.generate import generate
    from polybake.runtime.embedder import Embedder
    from polybake.verification.verify import verify

__all__ = ["Embedder", "__version__", "bake", "generate", "verify"]

_PLACES = {
    "bake": "polybake.baking.api",
    "Embedder": "polybake.runtime.embedder",
    "generate": "polybake.generation.generate",
    "verify": "polybake.verification.verify",
}
_MODULES = ("layers", "steps", "testing")


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for."""
    if name not in (*_PLACES, *_MODULES):
        raise AttributeError(f"module 'polybake' has no attribute {name!r}")
    try:
        if name in _MODULES:
            return importlib.import_module(f"polybake.{name}")
        return getattr(importlib.import_module(_PLACES[name]), name)
    except ModuleNotFoundError as error:
        raise missing_package(error) or error from error
