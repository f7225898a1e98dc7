"""Move the weights of a model file beside it: the format written by hand, from docs/format.md.

Nothing here is the code that bakes or reads such files: the graph is changed by the onnx package,
digests are hashlib's, and the head is metadata that protobuf writes before the graph.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import onnx

_PAGE = 4096


def move_weights(source: Path, target: Path, *, least: int = 64) -> Path:
    """Write ``source`` as a graph with its weights in a file beside it.

    Args:
        target: The ``.onnx`` file; its weights are ``NAME-<16 hex>.weights`` in the same folder.
        least: Initializers of fewer bytes stay in the graph.

    Returns:
        ``target``.
    """
    model = onnx.load(str(source))
    written = {entry.key: entry.value for entry in model.metadata_props}
    parts = ("polybake.manifest", "polybake.tokenizer", "polybake.fixture")
    head = {key: json.loads(written[key]) for key in parts}
    del model.metadata_props[:]
    payload = bytearray()
    for tensor in model.graph.initializer:
        if len(tensor.raw_data) < least:
            continue
        payload += bytes(-len(payload) % _PAGE)
        place = {"offset": len(payload), "length": len(tensor.raw_data)}
        payload += tensor.raw_data
        tensor.ClearField("raw_data")
        tensor.data_location = onnx.TensorProto.EXTERNAL
        for key, value in place.items():
            tensor.external_data.add(key=key, value=str(value))
    assert payload, "no weight is large enough"
    digest = hashlib.sha256(payload).hexdigest()
    weights = target.with_name(f"{target.stem}-{digest[:16]}.weights")
    weights.write_bytes(payload)
    for tensor in model.graph.initializer:
        if tensor.external_data:
            tensor.external_data.add(key="location", value=weights.name)
    tail = model.SerializeToString(deterministic=True)
    manifest, fixture = head["polybake.manifest"], head["polybake.fixture"]
    manifest["weights"] = {"file": weights.name, "length": len(payload), "sha256": digest}
    identity = [
        hashlib.sha256(tail).hexdigest(),
        hashlib.sha256(_json(head["polybake.tokenizer"])).hexdigest(),
        json.dumps(manifest["contract"], sort_keys=True, separators=(",", ":")),
        digest,
    ]
    fingerprint = hashlib.sha256("\n".join(identity).encode()).hexdigest()
    manifest["fingerprint"] = fixture["fingerprint"] = fingerprint
    written = {key: _json(head[f"polybake.{key}"]) for key in ("manifest", "tokenizer", "fixture")}
    contract = hashlib.sha256(identity[2].encode()).hexdigest().encode()
    values = {"contract": contract} | written
    head = b"".join(_entry(key, value) for key, value in values.items())
    about = {"sha256": hashlib.sha256(head + tail).hexdigest(), "length": len(head + tail)}
    about |= {key: [279 + head.index(value), len(value)] for key, value in values.items()}
    target.write_bytes(_entry("digest", _json(about).ljust(256)) + head + tail)
    return target


def _entry(key: str, value: bytes) -> bytes:
    model = onnx.ModelProto()
    model.metadata_props.add(key=f"polybake.{key}", value=value.decode())
    return model.SerializeToString()


def _json(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode("ascii")
