"""The architectures that are built from a checkpoint, by ``model_type`` of config.json.

A file of this folder with ``ARCHITECTURES`` adds its own.
"""

import pkgutil
from importlib import import_module

from polybake.baking.encoders.architecture import Architecture


def _architectures() -> dict[str, Architecture]:
    known: dict[str, Architecture] = {}
    for module in pkgutil.iter_modules(__path__, f"{__name__}."):
        known |= getattr(import_module(module.name), "ARCHITECTURES", {})
    return dict(sorted(known.items()))


ENCODERS = _architectures()

__all__ = ["ENCODERS"]
