"""The JSON Schemas of what other languages read and write."""

from __future__ import annotations

import json

from polybake.verify.schemas import schemas


def test_every_message_is_described() -> None:
    """The protocol's schema defines each request, each answer and their parts."""
    assert schemas()["protocol"]["$defs"].keys() == {
        "ClientVersions",
        "Embed",
        "EmbedIds",
        "EncodedVectors",
        "Errored",
        "Provider",
        "Results",
        "SelfCheck",
        "Skipped",
        "Start",
        "Started",
        "Stop",
        "Tokenize",
    }


def test_harness_file_is_described() -> None:
    """The harness's schema has the keys of docs/protocol.md, and refuses others."""
    harness = schemas()["harness"]
    keys = {"language", "requires", "prepare", "run", "environment", "cuda"}
    assert harness["properties"].keys() == keys
    assert harness["additionalProperties"] is False


def test_schemas_are_json() -> None:
    """Both can be written as JSON."""
    assert json.loads(json.dumps(schemas())) == schemas()
