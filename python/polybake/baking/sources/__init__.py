"""The sources of encoders: one file per kind of source."""

from collections.abc import Sequence
from pathlib import Path

from polybake.baking.sources import hub
from polybake.baking.sources.checkpoint import open_checkpoint
from polybake.baking.sources.hugging_face import open_hugging_face
from polybake.baking.sources.model2vec import is_model2vec, open_model2vec
from polybake.baking.sources.onnx.file import open_onnx_file
from polybake.baking.sources.sentence_transformers.cross_encoder import (
    is_cross_encoder,
    open_cross_encoder,
)
from polybake.baking.sources.sentence_transformers.folder import open_sentence_transformers
from polybake.baking.sources.sentence_transformers.multi_vector import (
    is_multi_vector,
    open_multi_vector,
)
from polybake.baking.sources.sentence_transformers.stanford_colbert import (
    is_stanford_colbert,
    open_stanford_colbert,
)
from polybake.baking.sources.source import Encoder, EncoderGraph, Source, SourceReference
from polybake.baking.sources.torch.export import open_torch
from polybake.base.files.hub_reference import HubReference
from polybake.base.files.model_folder import ModelFolder, Pickle
from polybake.config import EncoderMaker
from polybake.errors import InputError

_GLINER = "gliner_config.json"

__all__ = ["Encoder", "EncoderGraph", "Source", "SourceReference", "open_source"]


def open_source(
    source: HubReference | Path,
    encoder: EncoderMaker = "native",
    *,
    dequantize: bool = False,
    allow_unknown: Sequence[str] = (),
    pickle: Pickle = "refused",
) -> Source:
    """Open a model folder, a repository of the hub, or an ``.onnx`` file.

    Args:
        source: The result of `polybake.base.files.hub_reference.parse_source`.
        encoder: What makes the graph of a folder's encoder.
        dequantize: Whether to rebuild a dynamically quantized ``.onnx`` file in float32.
        allow_unknown: Unknown keys of the source's files that, as the user says, change no
            vector.
        pickle: What is done with weights that are a pickle.

    Raises:
        InputError: The source does not exist, or is not a model that polybake can bake.
        RequirementMissing: huggingface_hub is not installed, or the hub cannot be reached.
    """
    file = isinstance(source, Path) and source.is_file() and source.suffix == ".onnx"
    if dequantize and not file:
        raise InputError(f"{source}: is no .onnx file; leave out dequantize")
    if isinstance(source, HubReference):
        return _open_folder(hub.fetch(source, allow_unknown, pickle), encoder)
    if file:
        if encoder != "native":
            raise InputError(
                f"{source}: is exported already; leave out encoder {encoder!r}, "
                "or give the model's folder"
            )
        return open_onnx_file(
            source, dequantize=dequantize, allow_unknown=allow_unknown, pickle=pickle
        )
    if not source.is_dir():
        raise InputError(
            f"{source}: is no model folder and no .onnx file; give the path of one of these"
        )
    return _open_folder(ModelFolder.at(source, allow_unknown, pickle), encoder)


def _open_folder(folder: ModelFolder, encoder: EncoderMaker) -> Source:
    open_encoder = open_torch if encoder == "torch" else open_checkpoint
    if folder.file(_GLINER) is not None:
        raise InputError(
            f"{folder.path}: is a GLiNER model ({_GLINER}), which no task bakes; run it with the "
            "package gliner, or give a model of token classification, for the task tag"
        )
    if folder.file("modules.json") is not None:
        if is_cross_encoder(folder):
            return open_cross_encoder(folder, open_encoder)
        if is_multi_vector(folder):
            return open_multi_vector(folder, open_encoder)
        return open_sentence_transformers(folder, open_encoder)
    if folder.file("config.json") is None:
        raise InputError(
            f"{folder.path}: has neither modules.json nor config.json; give the folder that "
            "sentence-transformers or transformers saved, or an .onnx file"
        )
    if is_model2vec(folder):
        return open_model2vec(folder)
    if is_stanford_colbert(folder):
        return open_stanford_colbert(folder, open_encoder)
    return open_hugging_face(folder, open_encoder)
