"""The JSON Schemas of what other languages read and write."""

from __future__ import annotations

import json

from schemas import schema_files


def test_every_message_is_described() -> None:
    """The protocol's schema defines each request, each answer and their parts."""
    assert json.loads(schema_files()["protocol.schema.json"])["$defs"].keys() == {
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
    harness = json.loads(schema_files()["harness.schema.json"])
    keys = {"language", "requires", "prepare", "run", "environment", "cuda"}
    assert harness["properties"].keys() == keys
    assert harness["additionalProperties"] is False
