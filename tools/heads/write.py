"""Write fixtures/heads: ``PYTHONPATH=tools python -m heads.write fixtures/heads``.

One small file for each case, ``heads.json`` with the words, the manifest that the clients under
test are generated from, and files of weights.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

from heads.case import HeadCase
from heads.cut import cut_cases
from heads.digests import digest_cases
from heads.manifests import client_cases, manifest_cases
from heads.sound import sound_cases
from heads.weights import weights_cases, weights_files
from heads.whole import manifest
from heads.wire import key_cases, wire_cases
from polybake.base.files.atomic import replacing


def cases() -> Iterator[HeadCase]:
    """Every case, the whole file first."""
    yield from sound_cases()
    yield from cut_cases()
    yield from wire_cases()
    yield from key_cases()
    yield from digest_cases()
    yield from manifest_cases()
    yield from client_cases()
    yield from weights_cases()


def write(folder: Path) -> None:
    """Write all cases to ``folder``."""
    listed = []
    files = weights_files()
    for case in cases():
        files[f"{case.id}.onnx"] = case.data
        words = {"id": case.id, "why": case.why, "message": case.message, "readers": case.readers}
        listed.append(words | ({"older": case.older} if case.older else {}))
    for name, data in files.items():
        with replacing(folder / name) as file:
            file.write(data)
    parts = {"manifest.json": manifest().model_dump(mode="json"), "heads.json": {"heads": listed}}
    for name, value in parts.items():
        with replacing(folder / name) as file:
            file.write(json.dumps(value, indent=1).encode("ascii") + b"\n")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
