"""The sources of encoders: one file per kind of source."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from polybake.baking.sources import hub
from polybake.baking.sources.causal_reranker import (
    is_language_model,
    open_causal_reranker,
    published_prompt,
)
from polybake.baking.sources.checkpoint import Checkpoint, open_checkpoint
from polybake.baking.sources.hugging_face import open_hugging_face
from polybake.baking.sources.kind import Kind, kind_of
from polybake.baking.sources.model2vec import open_model2vec
from polybake.baking.sources.onnx.file import open_onnx_file
from polybake.baking.sources.sentence_transformers.cross_encoder import open_cross_encoder
from polybake.baking.sources.sentence_transformers.folder import open_sentence_transformers
from polybake.baking.sources.sentence_transformers.multi_vector import open_multi_vector
from polybake.baking.sources.sentence_transformers.stanford_colbert import open_stanford_colbert
from polybake.baking.sources.source import (
    Encoder,
    EncoderGraph,
    OpenEncoder,
    Source,
    SourceReference,
)
from polybake.baking.sources.torch.export import open_torch
from polybake.base.files.hub_reference import HubReference
from polybake.base.files.inputs import asked
from polybake.base.files.model_folder import AS_IT_IS, ModelFolder, SourceSettings
from polybake.config import RerankTable
from polybake.errors import InputError
from polybake.runtime.tokenizer import BakedTokenizer

_OPENERS: dict[Kind, Callable[[ModelFolder, OpenEncoder], Source]] = {
    "sentence_transformers": open_sentence_transformers,
    "cross_encoder": open_cross_encoder,
    "multi_vector": open_multi_vector,
    "model2vec": lambda folder, _: open_model2vec(folder),
    "stanford_colbert": open_stanford_colbert,
    "hugging_face": open_hugging_face,
}

__all__ = ["Encoder", "EncoderGraph", "Source", "SourceReference", "open_source"]


def open_source(
    source: HubReference | Path,
    settings: SourceSettings = AS_IT_IS,
    rerank: RerankTable | None = None,
) -> Source:
    """Open a model folder, a repository of the hub, or an ``.onnx`` file.

    ``rerank`` says how a causal language model is asked about a pair; None leaves it to the source.
    """
    file = isinstance(source, Path) and source.is_file() and source.suffix == ".onnx"
    if isinstance(source, HubReference):
        return _open_folder(hub.fetch(source, settings), rerank)
    if rerank is not None and file:
        raise _no_language_model(source)
    if file:
        if settings.encoder != "native":
            raise InputError(
                f"{source}: is exported already; leave out encoder {settings.encoder!r}, "
                "or give the model's folder"
            )
        _refuse_for_encoders(source, settings)
        return open_onnx_file(asked(source), settings)
    if not source.is_dir():
        raise InputError(
            f"{source}: is no model folder and no .onnx file; give the path of one of these"
        )
    return _open_folder(ModelFolder.at(source, settings), rerank)


def _open_folder(folder: ModelFolder, rerank: RerankTable | None) -> Source:
    maker = folder.settings.encoder
    opened: list[Encoder] = []

    def open_encoder(body: ModelFolder, tokenizer: BakedTokenizer) -> Encoder:
        opened.append((open_torch if maker == "torch" else open_checkpoint)(body, tokenizer))
        return opened[-1]

    kind = kind_of(folder)
    if rerank is not None or (kind == "hugging_face" and published_prompt(folder)):
        if not is_language_model(folder):
            raise _no_language_model(folder.path)
        source = open_causal_reranker(folder, open_encoder, rerank)
    else:
        source = _OPENERS[kind](folder, open_encoder)
    if maker == "torch" and not opened:
        raise InputError(
            f"{folder.path}: has no encoder that PyTorch could export; leave out encoder = "
            f'"{maker}"'
        )
    if not opened:
        _refuse_for_encoders(folder.path, folder.settings)
    return _with_adapters(source, opened)


def _refuse_for_encoders(path: Path, settings: SourceSettings) -> None:
    """Refuse settings of an encoder for a source that has none to be made."""
    if settings.attention is not None:
        raise InputError(
            f"{path}: has no decoder whose attention could be {settings.attention!r}; leave out "
            "attention"
        )
    if settings.adapter is not None:
        raise InputError(
            f"{path}: has no checkpoint with an adapter {settings.adapter!r}; leave out adapter"
        )


def _with_adapters(source: Source, opened: Sequence[Encoder]) -> Source:
    """Add the adapters that may be chosen, and the prompt of the chosen one.

    It is the default, as ``encode`` of the model's own code takes it with the adapter, and
    sentence-transformers where the call names both.
    """
    known = [encoder.options.adapters for encoder in opened if isinstance(encoder, Checkpoint)]
    adapters = next(filter(None, known), {})
    adapter = source.folder.settings.adapter
    if adapter is None:
        return replace(source, adapters=tuple(adapters))
    return replace(
        source,
        adapters=tuple(adapters),
        prompts={adapter: adapters[adapter], **source.prompts},
        default_prompt=source.default_prompt or adapter,
    )


def _no_language_model(path: Path) -> InputError:
    return InputError(
        f"rerank: {path} is no causal language model; expected a folder whose config.json has an "
        "architecture that ends in ForCausalLM; leave [rerank] out"
    )
