"""Where encoders come from: one file per kind of source."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from polybake.errors import InputError
from polybake.files.encoder_maker import EncoderMaker
from polybake.files.hub_reference import HubReference, is_hub
from polybake.files.model_folder import ModelFolder
from polybake.sources.source import Encoder, EncoderGraph, OpenEncoder, Reference, Source

__all__ = ["Encoder", "EncoderGraph", "Reference", "Source", "open_source"]


def open_source(path: Path, encoder: EncoderMaker = EncoderMaker.NATIVE) -> Source:
    """Open a model folder, a repository of the hub, or an ``.onnx`` file.

    Args:
        path: The folder or file, or ``hub:owner/name@revision``.
        encoder: Who makes the graph of a folder's encoder.

    Raises:
        InputError: nothing is there, or it is not a model that polybake can bake.
        RequirementMissing: huggingface_hub is not installed, or the hub cannot be reached.
    """
    if is_hub(path):
        from polybake.sources import hub

        reference = HubReference.parse(path)
        snapshot = hub.fetch(reference)
        source = _open_folder(ModelFolder.at(snapshot), encoder)
        return dataclasses.replace(source, identifier=hub.identifier(reference, snapshot))
    if path.is_file() and path.suffix == ".onnx":
        if encoder is not EncoderMaker.NATIVE:
            raise InputError(
                f"{path}: is exported already; leave out encoder {encoder.value!r}, "
                "or give the model's folder"
            )
        from polybake.sources.onnx.file import open_onnx_file

        return open_onnx_file(path)
    if not path.is_dir():
        raise InputError(
            f"{path}: is no model folder and no .onnx file; give the path of one of these"
        )
    return _open_folder(ModelFolder.at(path), encoder)


def _open_folder(folder: ModelFolder, encoder: EncoderMaker) -> Source:
    open_encoder = _encoder_opener(encoder)
    if folder.file("modules.json") is not None:
        from polybake.sources.sentence_transformers.folder import open_sentence_transformers

        return open_sentence_transformers(folder, open_encoder)
    if folder.file("config.json") is not None:
        from polybake.sources.hugging_face import open_hugging_face
        from polybake.sources.model2vec import is_model2vec, open_model2vec

        if is_model2vec(folder):
            return open_model2vec(folder)
        return open_hugging_face(folder, open_encoder)
    raise InputError(
        f"{folder.path}: has neither modules.json nor config.json; give the folder that "
        "sentence-transformers or transformers saved, or an .onnx file"
    )


def _encoder_opener(encoder: EncoderMaker) -> OpenEncoder:
    if encoder is EncoderMaker.TORCH:
        from polybake.sources.torch.export import open_torch

        return open_torch
    from polybake.sources.checkpoint import open_checkpoint

    return open_checkpoint
