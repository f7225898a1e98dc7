"""A plain Hugging Face encoder folder: its steps come from polybake.toml."""

from __future__ import annotations

from polybake.modelfolder import ModelFolder
from polybake.sources.checkpoint import open_checkpoint
from polybake.sources.identity import identifier
from polybake.sources.source import Source
from polybake.tokenizer import bake_tokenizer


def open_hugging_face(folder: ModelFolder) -> Source:
    """Open a folder with config.json, model.safetensors and tokenizer.json.

    Raises:
        InputError: something is missing or not supported.
    """
    encoder = open_checkpoint(folder)
    return Source(
        encoder=encoder,
        tokenizer=bake_tokenizer(folder),
        folder=folder.path,
        identifier=identifier(folder.path),
        licence=folder.licence(),
    )
