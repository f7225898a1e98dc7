"""From a list of step specifications, as polybake.toml has them, to the steps themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from pydantic import ValidationError

from polybake.errors import InputError
from polybake.modelfolder import ModelFolder
from polybake.sources.source import Source
from polybake.steps import STEPS, Step

#: The last name of a PyTorch class to our name of the same function.
_ACTIVATION_CLASSES = {
    "Identity": "identity",
    "Tanh": "tanh",
    "ReLU": "relu",
    "GELU": "gelu",
    "Sigmoid": "sigmoid",
    "SiLU": "silu",
}


def resolve(specs: Sequence[Mapping[str, object]], *, base: Path, source: Source) -> list[Step]:
    """Check each specification, read the files it names, and give the steps in order.

    Args:
        specs: Such as ``{"step": "pool", "mode": "mean"}``.
        base: The folder that paths in a specification are relative to.
        source: Holds the folders of ``dense`` steps.

    Raises:
        InputError: an unknown step, key or value, or a file that does not fit; the message
            begins with the key's path, such as ``steps[2].mode``.
    """
    return [_step(f"steps[{index}]", spec, base, source) for index, spec in enumerate(specs)]


def _step(where: str, spec: Mapping[str, object], base: Path, source: Source) -> Step:
    name = spec.get("step")
    if not isinstance(name, str) or name not in STEPS:
        raise InputError(f"{where}.step: unknown step {name!r}; choose one of: {', '.join(STEPS)}")
    parameters = {key: value for key, value in spec.items() if key != "step"}
    if name == "subtract":
        parameters = _subtract(where, parameters, base)
    elif name == "dense":
        parameters = _dense(where, parameters, ModelFolder.at(source.folder))
    try:
        return STEPS[name](**parameters)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join([where, *(str(part) for part in first["loc"])])
        choices = ", ".join(STEPS[name].model_fields) or "none"
        reason = (
            f"unknown key; choose one of: {choices}"
            if first["type"] == "extra_forbidden"
            else f"{first['msg']}, found {first['input']!r}"
        )
        raise InputError(f"{key}: {reason}") from error


def _subtract(where: str, parameters: dict[str, object], base: Path) -> dict[str, object]:
    """Read the vector file that ``vector`` names."""
    path = base / _only_key(where, parameters, "vector")
    try:
        array = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise InputError(
            f"{where}.vector: {path} cannot be read as a NumPy array ({error}); "
            "write it with numpy.save"
        ) from error
    if not isinstance(array, np.ndarray) or array.dtype.kind not in "fiu":
        raise InputError(f"{where}.vector: {path} holds no numbers; write one float32 row")
    return {"vector": array.astype(np.float32)}


def _dense(where: str, parameters: dict[str, object], model: ModelFolder) -> dict[str, object]:
    """Read the Dense module in the folder of the source that ``source`` names."""
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    folder = model.inner(_only_key(where, parameters, "source"))
    config = folder.settings("config.json")
    file = folder.file("model.safetensors")
    if file is None:
        raise InputError(
            f"{where}.source: {folder.path} has no model.safetensors; save the model again with "
            "sentence-transformers 2.3 or later"
        )
    if config.get("use_residual"):
        raise InputError(
            f"{where}.source: {folder.path}: use_residual is not supported; bake without this step"
        )
    try:
        weights = {name: array.astype(np.float32) for name, array in load_file(file).items()}
    except (SafetensorError, OSError) as error:
        raise InputError(
            f"{where}.source: {file} is not a whole safetensors file ({error}); download it again"
        ) from error
    names = ["linear.weight"] + (["linear.bias"] if config.get("bias", True) else [])
    if sorted(weights) != sorted(names):
        raise InputError(
            f"{where}.source: {file} holds {', '.join(sorted(weights))}; "
            f"expected {', '.join(names)}"
        )
    activation = str(config.get("activation_function", "Tanh")).rsplit(".", 1)[-1]
    if activation not in _ACTIVATION_CLASSES:
        raise InputError(
            f"{where}.source: {folder.path}: unknown activation {activation!r}; "
            f"known are: {', '.join(_ACTIVATION_CLASSES)}"
        )
    return {
        "weight": weights["linear.weight"],
        "bias": weights.get("linear.bias"),
        "activation": _ACTIVATION_CLASSES[activation],
    }


def _only_key(where: str, parameters: dict[str, object], key: str) -> str:
    for other in parameters:
        if other != key:
            raise InputError(f"{where}.{other}: unknown key; choose one of: {key}")
    value = parameters.get(key)
    if not isinstance(value, str):
        raise InputError(f"{where}.{key}: expected a path, found {value!r}")
    return value
