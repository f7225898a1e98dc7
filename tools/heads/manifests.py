"""Manifests that are damaged, too new, or another client's."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from heads.case import HeadCase
from heads.whole import values, whole_file
from polybake.base.modelfile.container import ascii_json


def manifest_cases() -> Iterator[HeadCase]:
    """Manifests that are damaged or too new."""
    whole = json.loads(values()["manifest"])
    message = "polybake.manifest is damaged; bake the model again"
    odd: dict[str, bytes] = {
        "no-json": b"manifest",
        "list": b"[]",
        "null": b"null",
        "nan": ascii_json(whole).replace(b'"opset":18', b'"opset":NaN'),
        "deep": b"[" * 3000 + b"]" * 3000,
        "not-ascii": ascii_json(whole).replace(b"heads-of", "h\u00e9ads".encode()),
        "not-unicode": ascii_json(whole).replace(b"heads-of", b"\xffeads-of"),
    }
    changes: dict[str, dict[str, Any]] = {
        "format-text": {"format": "1"},
        "format-0": {"format": 0},
        "format-fraction": {"format": 1.5},
        "format-true": {"format": True},
        "format-null": {"format": None},
        "name-number": {"name": 7},
        "fingerprint-null": {"fingerprint": None},
        "contract-list": {"contract": []},
        "contract-null": {"contract": None},
    }
    odd |= {name: ascii_json(whole | change) for name, change in changes.items()}
    for key in ("format", "name", "contract", "fingerprint"):
        odd[f"without-{key}"] = ascii_json({k: v for k, v in whole.items() if k != key})
    for name, data in odd.items():
        why = "A digest that holds does not make a manifest."
        yield HeadCase(f"manifest-{name}", why, whole_file(manifest=data), message)
    why = "The version that can read it is named before anything else is judged."
    newer = whole | {"format": 3, "contract": {}}
    for name, writer, change in (
        ("newer", "9.9", {"generator": "9.9"}),
        ("newer-by-nobody", "an unknown version", {}),
    ):
        del newer["generator"]
        newer |= change
        message = f"manifest format 3 is newer than 2; use polybake {writer}, which wrote it"
        older = message.replace("than 2", "than 1")
        data = whole_file(manifest=ascii_json(newer))
        yield HeadCase(name, why, data, message, older=older)


def client_cases() -> Iterator[HeadCase]:
    """What only clients notice: another contract, a tokenizer that cannot be loaded."""
    whole = json.loads(values()["manifest"])
    regenerate = "regenerate the client with: polybake generate"

    def changed(**changes: object) -> bytes:
        return whole_file(manifest=ascii_json(whole | {"contract": whole["contract"] | changes}))

    without = {key: value for key, value in whole["contract"].items() if key != "pad_id"}
    swapped = whole["contract"]["inputs"][::-1]
    for name, data, difference in (
        ("max-length", changed(max_length=8), "max_length: expected 4, found 8"),
        ("vocab-size", changed(vocab_size=4), "vocab_size: expected 3, found 4"),
        ("text-for-number", changed(pad_id="0"), 'pad_id: expected 0, found "0"'),
        ("more", changed(later=1), "later: expected nothing, found 1"),
        (
            "less",
            whole_file(manifest=ascii_json(whole | {"contract": without})),
            "pad_id: expected 0, found nothing",
        ),
        (
            "inputs",
            changed(inputs=swapped),
            'inputs[0].name: expected "input_ids", found "attention_mask"',
        ),
        (
            "prompt",
            changed(prompts={"query": "caf\u00e9 "}),
            'prompts.query: expected "river ", found "caf\u00e9 "',
        ),
        (
            "other-prompt",
            changed(prompts={"passage": "river "}),
            'prompts.query: expected "river ", found nothing',
        ),
    ):
        message = f"contract field {difference}; {regenerate}"
        why = "A client runs only the model that it was written for."
        yield HeadCase(f"contract-{name}", why, data, message, "clients")
    why = "What the tokenizer's library says differs in each language."
    message = "polybake.tokenizer is damaged; bake the model again"
    data = whole_file(tokenizer=b'{"version":"1.0"}')
    yield HeadCase("tokenizer-not-one", why, data, message, "clients")
