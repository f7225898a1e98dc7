"""Files that end too early or too late."""

from __future__ import annotations

from collections.abc import Iterator

from heads.case import HeadCase, not_whole
from heads.whole import tail, values, whole_file
from polybake.base.modelfile.protobuf import entry


def cut_cases() -> Iterator[HeadCase]:
    """Files that end within an entry, between two, or elsewhere than the graph."""
    data, whole = whole_file(), values()
    ends, position = {}, 0
    for key in ("manifest", "tokenizer", "fixture", "digests"):
        ends[key] = (position, position := position + len(entry(f"polybake.{key}", whole[key])))
    length = len(tail())
    no_manifest = "has no polybake.manifest; write the file with: polybake bake"
    yield HeadCase("empty", "No bytes are no entries.", b"", no_manifest)
    yield HeadCase("plain-onnx", "A model of another tool has no head.", tail(), no_manifest)
    yield HeadCase(
        "text", "Text is no protobuf, and has no entries either.", b"hello\n", no_manifest
    )
    for key, (begin, end) in ends.items():
        cut = data[: end - 1]
        yield HeadCase(f"cut-in-{key}", "An entry must be whole.", cut, not_whole(begin))
    for before, key in (
        ("manifest", "tokenizer"),
        ("tokenizer", "fixture"),
        ("fixture", "digests"),
    ):
        message = f"has no polybake.{key}; write the file with: polybake bake"
        yield HeadCase(
            f"cut-behind-{before}", "Each part is needed.", data[: ends[before][1]], message
        )
    tag_only = data[:1]
    yield HeadCase("cut-in-length", "A length must end.", tag_only, not_whole(0))
    for name, why, cut, found in (
        ("no-tail", "A head alone is no model.", data[:-length], 0),
        ("cut-in-tail", "A download that stopped has a whole head.", data[:-1], length - 1),
        ("byte-behind-tail", "What is appended is not ours.", data + b"\x00", length + 1),
        ("tail-twice", "Protobuf would join both.", data + tail(), 2 * length),
        (
            "entry-behind-tail",
            "A runtime would read the last one.",
            data + entry("polybake.manifest", b"{}"),
            length + len(entry("polybake.manifest", b"{}")),
        ),
    ):
        message = f"has {found} bytes after its head, expected {length}; copy the file again"
        yield HeadCase(name, why, cut, message)
