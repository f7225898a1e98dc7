"""Parts that are not what the digests say."""

from __future__ import annotations

import json
from collections.abc import Iterator

from heads.case import HeadCase
from heads.whole import tail, values, whole_file
from polybake.base.modelfile.container import ascii_json


def digest_cases() -> Iterator[HeadCase]:
    """Digests that are damaged, and parts that do not match theirs."""
    digests = json.loads(values()["digests"])
    message = "polybake.digests is damaged; copy the file again"
    odd: dict[str, bytes] = {
        "no-json": b"{",
        "list": b"[]",
        "null": b"null",
        "byte-order-mark": b"\xef\xbb\xbf" + ascii_json(digests),
        "behind": ascii_json(digests) + b"x",
        "not-unicode": b'"\xff"',
    }
    for key in digests:
        odd[f"without-{key.replace('_', '-')}"] = ascii_json(
            {name: value for name, value in digests.items() if name != key}
        )
    for name, value in (("null", None), ("number", 7), ("list", [])):
        odd[f"tail-{name}"] = ascii_json(digests | {"tail": value})
    lengths = (("text", "9"), ("0", 0), ("negative", -1), ("fraction", 1.5), ("true", True))
    for name, length in lengths:
        odd[f"tail-length-{name}"] = ascii_json(digests | {"tail_length": length})
    for name, data in odd.items():
        yield HeadCase(
            f"digests-{name}", "Damage has words, no trace.", whole_file(digests=data), message
        )
    for key in ("manifest", "tokenizer", "fixture"):
        other = ascii_json(digests | {key: "0" * 64})
        message = f"polybake.{key} does not match its digest; copy the file again"
        yield HeadCase(
            f"{key}-changed", "Every part is hashed.", whole_file(digests=other), message
        )
        other = ascii_json(digests | {key: digests[key].upper()})
        yield HeadCase(
            f"{key}-digest-upper", "Hex is lower case.", whole_file(digests=other), message
        )
    length, expected = len(tail()), len(tail()) + 1
    other = ascii_json(digests | {"tail_length": expected})
    message = f"has {length} bytes after its head, expected {expected}; copy the file again"
    yield HeadCase("tail-length-other", "Sizes are compared.", whole_file(digests=other), message)
