"""A model file with one part changed and its digests made anew."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import onnx

from polybake.base.modelfile.container import ascii_json, read_head, sha256, write
from polybake.base.modelfile.manifest import Contract, fingerprint


def _as_it_is(_: Any) -> None:
    """Change nothing."""


def write_varied(
    model: Path,
    path: Path,
    *,
    graph: Callable[[onnx.ModelProto], None] = _as_it_is,
    tokenizer: Callable[[dict[str, Any]], None] = _as_it_is,
    contract: Callable[[dict[str, Any]], None] = _as_it_is,
    **manifest: object,
) -> Path:
    """Copy a model file; each function changes its part in place, and the rest is the manifest's.

    Golden cases stay as they were, so those of a changed graph are not reproduced.
    """
    head = read_head(model)
    changed = onnx.ModelProto.FromString(model.read_bytes()[head.tail_offset :])
    graph(changed)
    words = json.loads(head.tokenizer)
    tokenizer(words)
    terms = head.manifest.contract.model_dump(mode="json")
    contract(terms)
    tail = path.with_suffix(".tail")
    tail.write_bytes(changed.SerializeToString(deterministic=True))
    digest, terms = sha256(tail.read_bytes()), Contract.model_validate(terms)
    identity = fingerprint(digest, sha256(ascii_json(words)), terms)
    facts = {"contract": terms, "fingerprint": identity, **manifest}
    write(
        path,
        tail,
        head.manifest.model_copy(update=facts),
        json.dumps(words),
        head.fixture,
    )
    tail.unlink()
    return path


def change_weight(name: str, change: Callable[[Any], Any]) -> Callable[[onnx.ModelProto], None]:
    """What puts another array in the place of a weight."""

    def change_it(model: onnx.ModelProto) -> None:
        (weight,) = (one for one in model.graph.initializer if one.name == name)
        array = change(onnx.numpy_helper.to_array(weight).copy())
        weight.CopyFrom(onnx.numpy_helper.from_array(array, name))

    return change_it
