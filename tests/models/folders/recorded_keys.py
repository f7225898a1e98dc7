"""What tools/model_keys.py recorded of the libraries that write the files of models."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

_FILE = Path(__file__).parents[2] / "data" / "model_keys.json"


def recorded_keys(library: str) -> list[dict[str, Any]]:
    """The keys of each recorded version whose name begins so."""
    found: dict[str, dict[str, Any]] = json.loads(_FILE.read_text("utf-8"))
    return [keys for version, keys in found.items() if version.startswith(library)]
