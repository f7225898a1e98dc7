"""The JSON Schema of polybake.toml, for editors that complete and check TOML."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from polybake.baking.recipe.fit import ARRAYS, Fit
from polybake.baking.recipe.resolve import HEAD
from polybake.baking.sources.sentence_transformers.saved_modules import SAVED
from polybake.baking.steps import STEPS, Step
from polybake.config import Config

_PATH = {"type": "string", "format": "path"}
_STEPS = {"type": "array", "items": {"$ref": "#/$defs/Step"}}
_ROUTES = {"type": "object", "additionalProperties": _STEPS, "minProperties": 2}
_FIT = {"anyOf": [_PATH, Fit.model_json_schema()]}
_HEAD = "The layers that the model itself has behind its encoder."


class _ByName(GenerateJsonSchema):
    """Generates schemas in which arrays, graphs and functions are paths of files."""

    def is_instance_schema(self, schema: core_schema.IsInstanceSchema) -> JsonSchemaValue:  # noqa: ARG002
        return _PATH

    def dataclass_schema(self, schema: core_schema.DataclassSchema) -> JsonSchemaValue:  # noqa: ARG002
        return _PATH


def settings_schema() -> dict[str, Any]:
    """The schema of a whole polybake.toml, with the parameters of every step."""
    schema = Config.model_json_schema()
    tables = [table for step in STEPS.values() for table in _tables(step)]
    schema["$defs"]["Step"] = {"oneOf": [_table(HEAD, _HEAD), *tables]}
    schema["properties"]["steps"]["anyOf"] = [_STEPS, {"type": "null"}]
    return schema


def _tables(step: type[Step]) -> Iterator[dict[str, Any]]:
    """A step with its parameters, and with the folder that its module was saved in."""
    summary = " ".join((inspect.getdoc(step) or "").split("\n\n")[0].split())
    schema = step.model_json_schema(schema_generator=_ByName)
    properties = {
        name: _PATH if "$ref" in value else value
        for name, value in schema.get("properties", {}).items()
    }
    if "routes" in properties:
        properties["routes"] = _ROUTES
    required = schema.get("required", [])
    yield _table(step.name, summary, properties, required)
    if step.name in ARRAYS:
        rest = {name: value for name, value in properties.items() if name not in ARRAYS[step.name]}
        names = [name for name in required if name in rest]
        yield _table(step.name, summary, {**rest, "fit": _FIT}, [*names, "fit"])
    if step.name in SAVED:
        yield _table(step.name, summary, {"source": _PATH}, ["source"])


def _table(
    name: str, summary: str, properties: Mapping[str, object] = {}, required: Sequence[str] = ()
) -> dict[str, Any]:
    return {
        "type": "object",
        "description": summary,
        "properties": {"step": {"const": name}, **properties},
        "required": ["step", *required],
        "additionalProperties": False,
    }
