"""A plain Hugging Face encoder folder: its steps come from polybake.toml."""

from __future__ import annotations

from polybake.modelfolder import ModelFolder
from polybake.sources.identity import identifier
from polybake.sources.source import OpenEncoder, Source
from polybake.tokenization.tokenizer import bake_tokenizer


def open_hugging_face(folder: ModelFolder, open_encoder: OpenEncoder) -> Source:
    """Open a folder with config.json, model.safetensors and tokenizer.json.

    Args:
        folder: The model's folder.
        open_encoder: Finds the encoder in it.

    Raises:
        InputError: something is missing or not supported.
    """
    tokenizer = bake_tokenizer(folder)
    return Source(
        encoder=open_encoder(folder, tokenizer),
        tokenizer=tokenizer,
        folder=folder.path,
        identifier=identifier(folder.path),
        licence=folder.licence(),
    )
