"""The cache of the Hugging Face hub: content in blobs, and snapshots made of links to it."""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path

from support.hub.hub_server import COMMIT


def write_cache(cache: Path, repository: str, folder: Path, commit: str = COMMIT) -> Path:
    """Lay a model's folder out as the hub's client does, as ``main``; return the snapshot."""
    root = cache / f"models--{repository.replace('/', '--')}"
    snapshot = root / "snapshots" / commit
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        blob = root / "blobs" / hashlib.sha256(path.read_bytes()).hexdigest()
        blob.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, blob)
        link = snapshot / path.relative_to(folder)
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(os.path.relpath(blob, link.parent))
    (root / "refs").mkdir()
    (root / "refs" / "main").write_text(commit)
    return snapshot
