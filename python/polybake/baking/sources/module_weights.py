"""The weights of a module, in its own folder."""

import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from polybake.baking.layers.stored_tensor import StoredTensor, stored_tensors
from polybake.base.files.model_folder import ModelFolder
from polybake.errors import InputError

#: The name that transformers and sentence-transformers give them.
NAME = "pytorch_model.bin"
INDEX = f"{NAME}.index.json"


def pickled_file(folder: ModelFolder) -> Path | None:
    """Return the path of a folder's pickle, or None if there is none or it may not be read."""
    return folder.file(NAME) if folder.settings.pickle == "tensors" else None


def or_read_it(folder: ModelFolder) -> str:
    """Return the end of a message about missing safetensors: how a pickle's tensors are read.

    It is empty where the user has said so already, or where no pickle is.
    """
    if folder.settings.pickle == "tensors":
        return ""
    # Of a repository only what is asked for is fetched, so nobody knows what it has.
    if folder.revision is None and folder.file(NAME) is None and folder.file(INDEX) is None:
        return ""
    return (
        f'; or, to read the tensors of {NAME} and run nothing of it, say pickle = "tensors" below '
        "[model] in polybake.toml (--set model.pickle=tensors)"
    )


def weight_file(folder: ModelFolder) -> Path:
    """The path of a module's model.safetensors, or of its pickle if only that is there."""
    remedy = f"save the model again with sentence-transformers 2.3 or later{or_read_it(folder)}"
    pickled = None if folder.file("model.safetensors") else pickled_file(folder)
    return pickled or folder.needed_file("model.safetensors", remedy)


def exact_tensors(folder: ModelFolder, names: Mapping[str, str]) -> dict[str, NDArray[np.float32]]:
    """Return the tensors of these names by key; the module may have no other tensors."""
    return tensors_of(weight_file(folder), names)


def tensors_of(file: Path, names: Mapping[str, str]) -> dict[str, NDArray[np.float32]]:
    """Return the tensors of these names by key; the file may have no others."""
    tensors = {tensor.name: tensor for tensor in _tensors(file)}
    if sorted(tensors) != sorted(names.values()):
        raise InputError(
            f"{file}: holds {', '.join(sorted(tensors)) or 'no tensor'}; "
            f"expected {', '.join(sorted(names.values()))}; download the module again"
        )
    return {key: _read(tensors[name]) for key, name in names.items()}


def _tensors(file: Path) -> list[StoredTensor]:
    tensors, size = [*stored_tensors(file)], file.stat().st_size
    # A pickle may name one storage a thousand times, and these are all in memory at once.
    if sum(math.prod(tensor.shape) for tensor in tensors) > size:
        raise InputError(
            f"{file}: its tensors have more numbers than its {size} bytes, expected each number "
            "once; get the weights as safetensors from whoever made them"
        )
    return tensors


def _read(tensor: StoredTensor) -> NDArray[np.float32]:
    return tensor.array().astype(np.float32)
