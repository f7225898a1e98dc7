"""Weights that are a pickle, which are read only if the user says so."""

from pathlib import Path

from polybake.base.files.model_folder import ModelFolder

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
