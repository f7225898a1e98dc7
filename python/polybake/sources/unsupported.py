"""The error of a model folder's setting that no step and no encoder has."""

from __future__ import annotations

from polybake.errors import InputError
from polybake.modelfolder import ModelFolder


def unsupported(folder: ModelFolder, key: str, value: object) -> InputError:
    """Name the setting ``key``, its value, and the way around."""
    return InputError(
        f"{folder.path}: {key} = {value!r} is not supported; "
        "give the encoder's .onnx file and list its steps in polybake.toml"
    )
