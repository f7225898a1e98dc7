"""The JSON Schemas of docs/schema, made from the models that read and write the files.

``python -m polybake.schemas docs/schema`` writes them, ``--check`` compares.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from polybake.atomic import replacing
from polybake.config import Config
from polybake.errors import CheckFailed
from polybake.fixtures.case import Fixture
from polybake.manifest import Manifest
from polybake.verify.schemas import schemas as verify_schemas


def schema_files() -> dict[str, str]:
    """The text of every schema by file name."""
    schemas = verify_schemas() | {
        "manifest": Manifest.model_json_schema(),
        "fixture": Fixture.model_json_schema(),
        "config": Config.model_json_schema(),
    }
    return {
        f"{name}.schema.json": json.dumps(schema, indent=2) + "\n"
        for name, schema in sorted(schemas.items())
    }


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


def main(arguments: list[str]) -> None:
    """Write to, or with ``--check`` compare, the folder named last."""
    folder = Path(arguments[-1])
    try:
        check_schemas(folder) if "--check" in arguments else write_schemas(folder)
    except CheckFailed as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main(sys.argv[1:])
