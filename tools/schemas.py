"""The JSON Schemas of docs/schema, made from the models that read and write the files.

``python tools/schemas.py docs/schema`` writes them, ``--check`` compares.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from pydantic.json_schema import models_json_schema

from polybake.baking.recipe.json_schema import settings_schema
from polybake.base.files.atomic import replacing
from polybake.base.modelfile.fixture import Fixture
from polybake.base.modelfile.manifest import Manifest
from polybake.errors import CheckFailed
from polybake.verification.harness import protocol
from polybake.verification.harness.harness_file import HarnessFile

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


def schema_files() -> dict[str, str]:
    """The text of every schema by file name."""
    schemas = _verify_schemas() | {
        "manifest": Manifest.model_json_schema(),
        "fixture": Fixture.model_json_schema(),
        "config": settings_schema(),
    }
    return {
        f"{name}.schema.json": json.dumps(schema, indent=2) + "\n"
        for name, schema in sorted(schemas.items())
    }


def _verify_schemas() -> dict[str, dict[str, Any]]:
    """``protocol`` for one line of the stream, ``harness`` for the file."""
    _, definitions = models_json_schema([(model, "validation") for model in _LINES + _RESULTS])
    lines: dict[str, Any] = {
        "title": "One line of the harness protocol",
        "anyOf": [{"$ref": f"#/$defs/{model.__name__}"} for model in _LINES],
    }
    return {"protocol": lines | definitions, "harness": HarnessFile.model_json_schema()}


def write_schemas(folder: Path) -> None:
    """Write every schema."""
    for name, text in schema_files().items():
        with replacing(folder / name) as file:
            file.write(text.encode("utf-8"))


def check_schemas(folder: Path) -> None:
    """Compare the folder with fresh schemas.

    Raises:
        CheckFailed: one is missing or differs.
    """
    for name, text in schema_files().items():
        path = folder / name
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            raise CheckFailed(f"{path}: is not fresh; run: nox -s regenerate")


def main() -> None:
    """Write to the folder, or compare it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args()
    try:
        (check_schemas if given.check else write_schemas)(given.folder)
    except CheckFailed as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
