"""The whole file of fixtures/heads, part by part."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import onnx.helper
import onnx.numpy_helper
import onnx.parser

from polybake.base.modelfile.container import ascii_json, sha256
from polybake.base.modelfile.fixture import TOLERANCES, Case, Fixture, MadeBy, encode_vectors
from polybake.base.modelfile.manifest import (
    Contract,
    Input,
    Manifest,
    Output,
    Provenance,
    fingerprint,
)
from polybake.base.modelfile.protobuf import entry

_GRAPH = """
<ir_version: 8, opset_import: ["" : 18]>
heads (int64[batch, sequence] input_ids, int64[batch, sequence] attention_mask)
    => (float[batch, 2] sentence_embedding)
{
    tokens = Gather (rows, input_ids)
    mask = Cast <to = 1> (attention_mask)
    axis = Constant <value = int64[1] {2}> ()
    kept = Unsqueeze (mask, axis)
    weighed = Mul (tokens, kept)
    second = Constant <value = int64[1] {1}> ()
    sentence_embedding = ReduceSum <keepdims = 0> (weighed, second)
}
"""
#: Bytes of a file of weights before its payload.
HEADING = 4096
ROWS = np.array([[0, 0], [0.5, -0.25], [1, 0.125]], np.float32)
_TOKENIZER: dict[str, Any] = {
    "version": "1.0",
    "truncation": {
        "direction": "Right",
        "max_length": 4,
        "strategy": "LongestFirst",
        "stride": 0,
    },
    "padding": None,
    "added_tokens": [],
    "normalizer": None,
    "pre_tokenizer": {"type": "WhitespaceSplit"},
    "post_processor": None,
    "decoder": None,
    "model": {
        "type": "WordLevel",
        "vocab": {"[PAD]": 0, "[UNK]": 1, "river": 2},
        "unk_token": "[UNK]",
    },
}


def tail(*, beside: bool = False) -> bytes:
    """The graph that every file ends with; its table may lie beside it."""
    model = onnx.parser.parse_model(_GRAPH)
    rows = onnx.numpy_helper.from_array(ROWS, "rows")
    if beside:
        rows.ClearField("raw_data")
        rows.data_location = onnx.TensorProto.EXTERNAL
        place = {"location": "beside.weights", "offset": HEADING, "length": ROWS.nbytes}
        for key, value in place.items():
            rows.external_data.add(key=key, value=str(value))
    model.graph.initializer.append(rows)
    serialized: bytes = model.SerializeToString(deterministic=True)
    return serialized


def manifest(*, beside: bool = False) -> Manifest:
    """The manifest of the whole file; of format 2 where the table lies beside it."""
    contract = Contract(
        inputs=(
            Input(name="input_ids", feed="input_ids"),
            Input(name="attention_mask", feed="attention_mask"),
        ),
        output=Output(name="sentence_embedding", dimension=2),
        vocab_size=3,
        max_length=4,
        pad_id=0,
        prompts={"query": "river "},
    )
    return Manifest(
        format=2 if beside else 1,
        name="heads-of-files",
        contract=contract,
        steps=("sum",),
        encoder="table",
        opset=18,
        source=Provenance(identifier="heads"),
        generator="0.1.0",
        fingerprint=fingerprint(
            sha256(tail(beside=beside)),
            sha256(ascii_json(_TOKENIZER)),
            contract,
            sha256(ROWS.tobytes()) if beside else None,
        ),
        verified="steps",
    )


def fixture(*, beside: bool = False) -> Fixture:
    """The golden case of the whole file."""
    case = Case(
        id="river",
        why="The sum of two rows is known without any runtime.",
        texts=("river bank",),
        input_ids=((2, 1),),
        embeddings=encode_vectors(ROWS[[2, 1]].sum(axis=0, keepdims=True)),
    )
    return Fixture(
        fingerprint=manifest(beside=beside).fingerprint,
        made_by=MadeBy(kind="oracle", packages={"numpy": "1.26"}),
        tolerances=TOLERANCES,
        cases=(case,),
    )


def values(*, beside: bool = False, **changes: bytes) -> dict[str, bytes]:
    """The four values by key, with those of ``changes`` in the place of the whole ones."""
    found = {
        "manifest": ascii_json(manifest(beside=beside).model_dump(mode="json")),
        "tokenizer": ascii_json(_TOKENIZER),
        "fixture": ascii_json(fixture(beside=beside).model_dump(mode="json")),
    } | changes
    graph = tail(beside=beside)
    digests: dict[str, Any] = {"tail": sha256(graph), "tail_length": len(graph)}
    if beside:
        digests["weights"] = about_weights()
    digests |= {key: hashlib.sha256(value).hexdigest() for key, value in found.items()}
    return {"digests": ascii_json(digests), **found} | changes


def head(found: dict[str, bytes]) -> bytes:
    """The values as entries, in the order of the format."""
    order = ("manifest", "tokenizer", "fixture", "digests")
    return b"".join(entry(f"polybake.{key}", found[key]) for key in order if key in found)


def about_weights(**changes: object) -> dict[str, Any]:
    """What the digests say of the file of weights."""
    digest, length = sha256(ROWS.tobytes()), HEADING + ROWS.nbytes
    return {"file": "beside.weights", "length": length, "sha256": digest} | changes


def whole_file(**changes: bytes) -> bytes:
    """The whole file, with some values changed."""
    return head(values(beside=False, **changes)) + tail()
