"""Whole files that look unusual."""

from __future__ import annotations

import json
from collections.abc import Iterator

from heads.case import HeadCase
from heads.whole import tail, values, whole_file
from heads.wire import varint_of
from polybake.base.modelfile.container import ascii_json
from polybake.base.modelfile.protobuf import entry, varint


def sound_cases() -> Iterator[HeadCase]:
    """The whole file, and files that only look unusual."""
    yield HeadCase("whole", "A reader that refuses this reads nothing.", whole_file(), None)
    whole = values()
    parts = {key: entry(f"polybake.{key}", value) for key, value in whole.items()}
    manifest_json = json.loads(whole["manifest"])
    foreign = entry("note", b"kept by another tool")
    long_length = parts["manifest"].replace(
        varint(len(parts["manifest"]) - 3), varint_of(len(parts["manifest"]) - 3, 5), 1
    )
    for name, why, data in (
        ("foreign-entry", "Other tools' entries are none of ours.", foreign + whole_file()),
        ("foreign-twice", "Only our keys may not repeat.", foreign * 2 + whole_file()),
        ("foreign-key-not-unicode", "A key need not be text.", _bytes_key() + whole_file()),
        ("later-key", "A later version may add an entry.", entry("polybake.x", b"") + whole_file()),
        (
            "other-order",
            "The order of entries carries no meaning.",
            b"".join(parts[key] for key in ("digests", "fixture", "tokenizer", "manifest"))
            + tail(),
        ),
        (
            "later-manifest-key",
            "A later version may add a key.",
            whole_file(manifest=ascii_json(manifest_json | {"later": [1]})),
        ),
        (
            "length-in-five-bytes",
            "A varint need not be the shortest one.",
            long_length + whole_file()[len(parts["manifest"]) :],
        ),
    ):
        yield HeadCase(name, why, data, None)


def _bytes_key() -> bytes:
    return b"\x72\x07\x0a\x03k\xff\xfe\x12\x00"
