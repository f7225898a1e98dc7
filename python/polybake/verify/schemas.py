"""JSON Schemas of what other languages' tools read and write for verify."""

from __future__ import annotations

from typing import Any

from pydantic.json_schema import models_json_schema

from polybake.verify import protocol
from polybake.verify.harness_file import HarnessFile

_LINES = (
    protocol.Start,
    protocol.Tokenize,
    protocol.EmbedIds,
    protocol.Embed,
    protocol.SelfCheck,
    protocol.Stop,
    protocol.Results,
    protocol.Skipped,
    protocol.Errored,
)
_RESULTS = (protocol.Started, protocol.EncodedVectors)


def schemas() -> dict[str, dict[str, Any]]:
    """The schemas by name: ``protocol`` for one line of the stream, ``harness`` for the file."""
    _, definitions = models_json_schema([(model, "validation") for model in _LINES + _RESULTS])
    lines: dict[str, Any] = {
        "title": "One line of the harness protocol",
        "anyOf": [{"$ref": f"#/$defs/{model.__name__}"} for model in _LINES],
    }
    return {"protocol": lines | definitions, "harness": HarnessFile.model_json_schema()}
