"""The record of what vectors came from, which stands beside them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from polybake import __version__
from polybake.corpus.source import Source
from polybake.modelfile.manifest import Manifest


def record(
    manifest: Manifest, prompt: str | None, device: str, source: Source, digest: str | None
) -> dict[str, Any]:
    """All that the vectors depend on; ``rows`` is added to ``texts`` when they are known."""
    output = manifest.contract.output
    return {
        "model": {
            "name": manifest.name,
            "fingerprint": manifest.fingerprint,
            "similarity": manifest.similarity,
            "prompt": prompt,
        },
        "embedding": output.model_dump(include={"dtype", "dimension", "packed_bits"}),
        "texts": {"file": source.path.name, "sha256": digest, "column": source.column},
        "device": device,
        "polybake": __version__,
    }


def record_of(out: Path) -> Path:
    """Where the record of a file lies that has no room for it."""
    return out.with_name(f"{out.name}.json")


def is_record(path: Path) -> bool:
    """Whether a file holds a record."""
    try:
        written = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return False
    return isinstance(written, dict) and {"polybake", "model", "texts"} <= written.keys()
