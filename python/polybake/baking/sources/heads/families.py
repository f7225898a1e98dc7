"""The layers of a head, by the family of its encoder."""

from collections.abc import Callable, Mapping
from typing import TypeVar

from pydantic import ValidationError

from polybake.baking.encoders import ENCODERS
from polybake.baking.sources.checkpoint import architecture_name, checkpoint_files
from polybake.baking.sources.heads.layers import Layers
from polybake.baking.steps import Step
from polybake.base.files.model_folder import ModelFolder
from polybake.base.files.validation import JsonModel, first_fault
from polybake.errors import InputError

Config = TypeVar("Config", bound=JsonModel)

#: The steps of a head by architecture, from its settings and its weights.
Families = Mapping[str, Callable[[Config, Layers], list[Step]]]


#: The remedy for a head that is not known.
_WHOLE = "export the whole model to ONNX and give the .onnx file"


def head_steps(
    folder: ModelFolder,
    what: str,
    families: Families[Config],
    config: type[Config],
    remedy: str = _WHOLE,
) -> list[Step]:
    """Read the steps of a checkpoint's head."""
    name = architecture_name(folder)
    if name is None or name not in families:
        raise InputError(
            f"{folder.path / 'config.json'}: the {what} of {name!r} is not known; known are: "
            f"{', '.join(families)}; {remedy}"
        )
    layers = Layers(checkpoint_files(folder), ENCODERS[name].prefix)
    try:
        return families[name](folder.read("config.json", config), layers)
    except ValidationError as error:
        raise InputError(
            f"{layers.files[0]}: {first_fault(error)}; save the model again"
        ) from error
