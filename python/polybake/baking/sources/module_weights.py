"""The weights of a module, in its own folder."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load_file

from polybake.base.files.model_folder import ModelFolder
from polybake.errors import InputError


def weight_file(folder: ModelFolder) -> Path:
    """The path of a module's model.safetensors.

    Raises:
        InputError: there is none.
    """
    remedy = "save the model again with sentence-transformers 2.3 or later"
    return folder.needed_file("model.safetensors", remedy)


def all_tensors(folder: ModelFolder) -> dict[str, NDArray[np.float32]]:
    """Return every tensor of a module, as float32.

    Raises:
        InputError: The file is missing or damaged.
    """
    file = weight_file(folder)
    try:
        return {name: array.astype(np.float32) for name, array in load_file(file).items()}
    except (SafetensorError, OSError) as error:
        raise InputError(
            f"{file} is not a whole safetensors file ({error}); download it again"
        ) from error


def exact_tensors(folder: ModelFolder, names: Mapping[str, str]) -> dict[str, NDArray[np.float32]]:
    """Return the tensors of these names by key; the module may have no other tensors.

    Raises:
        InputError: It has other tensors, or as in `all_tensors`.
    """
    found = all_tensors(folder)
    if sorted(found) != sorted(names.values()):
        raise InputError(
            f"{folder.path / 'model.safetensors'}: holds {', '.join(sorted(found))}; "
            f"expected {', '.join(sorted(names.values()))}"
        )
    return {key: found[name] for key, name in names.items()}
