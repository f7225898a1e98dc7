"""The error of a model folder's setting that no step and no encoder has."""

from __future__ import annotations

import json
from collections.abc import Sequence

from polybake.errors import InputError
from polybake.files.model_folder import ModelFolder

#: An .onnx file that lies in a model's folder is opened with that folder's settings.
REMEDY = (
    "put the encoder's .onnx file and its tokenizer.json into a folder of their own "
    "and list the steps in polybake.toml"
)


def unsupported(
    folder: ModelFolder, key: str, value: object, expected: Sequence[object] = ()
) -> InputError:
    """Name the setting ``key``, its value, the values that are supported, and the way around."""
    known = " or ".join(json.dumps(one) for one in expected)
    return InputError(
        f"{folder.path}: {key} = {json.dumps(value)} is not supported; "
        f"{f'expected {known}, or ' if known else ''}{REMEDY}"
    )
