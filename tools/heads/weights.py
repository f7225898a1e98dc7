"""Files of weights, and what is wrong with them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from heads.case import HeadCase
from heads.whole import HEADING, ROWS, about_weights, head, manifest, tail, values
from polybake.base.modelfile.container import ascii_json, sha256


def weights_cases() -> Iterator[HeadCase]:
    """Models whose weights lie beside them."""
    older = (
        f"manifest format 2 is newer than 1; use polybake {manifest().generator}, which wrote it"
    )
    for case in (*_sound_weights(), *_damaged_weights(), *_missing_weights()):
        yield replace(case, older=older)


def _sound_weights() -> Iterator[HeadCase]:
    changed = about_weights(file="changed.weights")
    for name, why, said in (
        ("beside", "Its weights lie beside it.", about_weights()),
        ("weights-later-key", "A later version may add a key.", about_weights(later=1)),
        ("weights-changed", "Whoever opens a file hashes no gigabytes.", changed),
    ):
        yield HeadCase(name, why, _beside(said), None)


def _damaged_weights() -> Iterator[HeadCase]:
    message = "polybake.digests is damaged; copy the file again"
    whole = about_weights()
    odd: dict[str, Any] = {"null": None, "text": "beside.weights", "list": [], "empty": {}}
    for key in whole:
        odd[f"without-{key}"] = {name: value for name, value in whole.items() if name != key}
    for key, name, value in (
        ("file", "number", 7),
        ("file", "empty", ""),
        ("file", "hidden", ".weights"),
        ("file", "above", "../beside.weights"),
        ("file", "below", "a/beside.weights"),
        ("file", "backslash", "a\\beside.weights"),
        ("file", "absolute", "/beside.weights"),
        ("file", "other-ending", "beside.onnx"),
        ("file", "line", "beside.weights\n"),
        ("file", "two-lines", "a\nbeside.weights"),
        ("file", "not-ascii", "besid\u00e9.weights"),
        ("file", "nul", "beside\0.weights"),
        ("file", "half-surrogate", "beside\ud800.weights"),
        ("file", "too-long", "b" * 248 + ".weights"),
        ("length", "text", str(whole["length"])),
        ("length", "0", 0),
        ("length", "of-no-heading", HEADING - 1),
        ("length", "fraction", whole["length"] + 0.5),
        ("length", "true", True),
        ("sha256", "number", 7),
        ("sha256", "upper", whole["sha256"].upper()),
        ("sha256", "short", whole["sha256"][1:]),
        ("sha256", "line", whole["sha256"] + "\n"),
    ):
        odd[f"{key}-{name}"] = about_weights(**{key: value})
    why = "A name, a size and a digest, or no file is looked for."
    for name, said in odd.items():
        yield HeadCase(f"digests-weights-{name}", why, _beside(said), message)
    found = values(beside=True)
    digests = json.loads(found["digests"])
    del digests["weights"]
    data = head(found | {"digests": ascii_json(digests)}) + tail(beside=True)
    why = "Format 2 has weights beside it."
    yield HeadCase("digests-without-weights", why, data, message)


def _missing_weights() -> Iterator[HeadCase]:
    size = len(weights())
    remedy = "it holds the model's weights, put it beside the model"
    missing = f"cannot be read (No such file or directory); {remedy}"
    cut = f"has {size - 1} bytes, expected {size}; copy it again"
    other = "belongs to another model; copy the one that was baked with it"
    for file, why, message in (
        ("missing", "A model that was copied alone.", missing),
        ("cut", "A download that stopped has a whole heading.", cut),
        ("other", "Two models of one size must not be mixed up.", other),
        ("zeros", "A file that was allocated and never written.", other),
        ("later-version", "Another layout is another file.", other),
        ("more-in-heading", "Nothing stands behind the digest.", other),
    ):
        data = _beside(about_weights(file=f"{file}.weights"))
        yield HeadCase(f"weights-{file}", why, data, f"FOLDER/{file}.weights {message}")
    data = _beside(about_weights(length=size + 1))
    message = f"FOLDER/beside.weights has {size} bytes, expected {size + 1}; copy it again"
    yield HeadCase("weights-other-length", "Sizes are compared.", data, message)
    contract = json.loads(values(beside=True)["manifest"])["contract"] | {"max_length": 8}
    data = _beside(about_weights(file="missing.weights"), contract=contract)
    message = "contract field max_length: expected 4, found 8"
    yield HeadCase(
        "weights-missing-other-contract",
        "Whoever opens another model hears that first.",
        data,
        f"{message}; regenerate the client with: polybake generate",
        "clients",
    )


def weights() -> bytes:
    """The file of weights: its heading, then the rows of the table."""
    return _heading(sha256(ROWS.tobytes())) + ROWS.tobytes()


def weights_files() -> dict[str, bytes]:
    """Every file of weights by name; ``missing.weights`` is none."""
    whole, digest = weights(), sha256(ROWS.tobytes())
    files = {
        "beside": whole,
        "changed": whole[:-1] + b"\xff",
        "cut": whole[:-1],
        "other": _heading("0" * 64) + whole[HEADING:],
        "zeros": bytes(len(whole)),
        "later-version": whole.replace(b"weights 1", b"weights 2", 1),
        "more-in-heading": _heading(f"{digest}\nx") + whole[HEADING:],
    }
    return {f"{name}.weights": data for name, data in files.items()}


def _heading(digest: str) -> bytes:
    return f"polybake weights 1\n{digest}\n".encode("ascii").ljust(HEADING, b"\0")


def _beside(said: object, **changes: object) -> bytes:
    """A file whose digests say this of its weights, its manifest changed."""
    data = json.loads(values(beside=True)["manifest"]) | changes
    found = values(beside=True, manifest=ascii_json(data))
    digests = json.loads(found["digests"]) | {"weights": said}
    return head(found | {"digests": ascii_json(digests)}) + tail(beside=True)
