"""Read fit.json: the steps that the arrays beside it were fitted to."""

import json
from pathlib import Path
from typing import Any

from polybake.base.files.inputs import asked

#: The record's name, in the folder of the arrays.
RECORD = "fit.json"


def arrays_of(folder: Path) -> set[str]:
    """Return the names of the arrays that a fit wrote to a folder; empty without a record."""
    try:
        return {*_read(folder)["arrays"]}
    except (OSError, ValueError, TypeError, KeyError):
        return set()


def steps_before(array: Path) -> tuple[str, ...] | None:
    """Return the steps, as in the manifest, whose vectors an array was fitted to.

    Returns:
        None if no record beside the array names it.
    """
    if array.name not in arrays_of(array.parent):
        return None
    try:
        return tuple(map(str, _read(array.parent)["model"]["steps"]))
    except (TypeError, KeyError):
        return None


def _read(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(asked(folder / RECORD).read_text(encoding="utf-8"))
    return found
