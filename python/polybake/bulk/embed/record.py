"""The record of the origin of vectors, which is stored with them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from polybake import __version__
from polybake.base.modelfile.manifest import Manifest
from polybake.base.texts.source import TextSource

#: The key of the record in the metadata of a table's schema, or of its column of vectors.
RECORD = "polybake.embed"

#: The keys that decide whether vectors are the wanted ones; device and version do not.
_DECIDES = ("model", "embedding", "texts")


def record(
    manifest: Manifest, prompt: str | None, device: str, source: TextSource, digest: str | None
) -> dict[str, Any]:
    """All that the vectors depend on; ``rows`` is added to ``texts`` when they are known."""
    texts = {"file": source.path.name, "sha256": digest, "column": source.column}
    return record_of_texts(manifest, prompt, device, texts)


def record_of_texts(
    manifest: Manifest, prompt: str | None, device: str, texts: Mapping[str, Any]
) -> dict[str, Any]:
    """The same of texts that come from anywhere."""
    output = manifest.contract.output
    return {
        "model": {
            "name": manifest.name,
            "fingerprint": manifest.fingerprint,
            "similarity": manifest.similarity,
            "prompt": prompt,
        },
        "embedding": output.model_dump(include={"dtype", "dimension", "packed_bits"}),
        "texts": dict(texts),
        "device": device,
        "polybake": __version__,
    }


def record_of(out: Path) -> Path:
    """Return the path of the record of a file without room for it."""
    return out.with_name(f"{out.name}.json")


def read_record(path: Path) -> dict[str, Any]:
    """Return the record that a file holds; empty if it holds none."""
    try:
        content = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    known = isinstance(content, dict) and {"polybake", "model", "texts"} <= content.keys()
    return content if known else {}


def other_vectors(found: Mapping[str, Any], wanted: Mapping[str, Any]) -> str | None:
    """Return why the vectors of a record are not the wanted ones; None if they are."""
    if not found:
        return "polybake did not write it"
    return difference(found, {key: wanted[key] for key in _DECIDES})


def difference(found: Mapping[str, Any], wanted: Mapping[str, Any], path: str = "") -> str | None:
    """Return the first value of a record that differs, before and now; None if all are equal."""
    for key, value in wanted.items():
        before = found.get(key)
        if isinstance(value, dict) and isinstance(before, dict):
            if inner := difference(before, value, f"{path}{key}."):
                return inner
        elif before != value:
            return f"{path}{key} was {json.dumps(before)}, and is {json.dumps(value)}"
    return None
