"""How the manifest names a source."""

from __future__ import annotations

from pathlib import Path

_CACHE_PREFIX = "models--"


def identifier(path: Path) -> str:
    """Name a folder or file by what does not depend on the machine.

    Returns:
        ``owner/name`` for a snapshot in a Hugging Face cache, else the last part of the path.
    """
    for parent in path.absolute().parents:
        if parent.name.startswith(_CACHE_PREFIX):
            return parent.name.removeprefix(_CACHE_PREFIX).replace("--", "/")
    return path.resolve().name
