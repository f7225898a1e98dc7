"""Where encoders come from: one file per kind of source."""

from __future__ import annotations

from pathlib import Path

from polybake.errors import InputError
from polybake.modelfolder import ModelFolder
from polybake.sources.source import Encoder, EncoderGraph, Reference, Source

__all__ = ["Encoder", "EncoderGraph", "Reference", "Source", "open_source"]


def open_source(path: Path) -> Source:
    """Open a model folder or an ``.onnx`` file.

    Raises:
        InputError: nothing is there, or it is not a model that polybake can bake.
    """
    if path.is_file() and path.suffix == ".onnx":
        from polybake.sources.onnx_file import open_onnx_file

        return open_onnx_file(path)
    if not path.is_dir():
        raise InputError(
            f"{path}: is no model folder and no .onnx file; give the path of one of these"
        )
    folder = ModelFolder.at(path)
    if folder.file("modules.json") is not None:
        from polybake.sources.sentence_transformers import open_sentence_transformers

        return open_sentence_transformers(folder)
    if folder.file("config.json") is not None:
        from polybake.sources.hugging_face import open_hugging_face

        return open_hugging_face(folder)
    raise InputError(
        f"{path}: has neither modules.json nor config.json; give the folder that "
        "sentence-transformers or transformers saved, or an .onnx file"
    )
