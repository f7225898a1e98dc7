"""A sentence-transformers folder: modules.json lists the encoder and the steps after it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from polybake.errors import InputError
from polybake.files.identifier import identifier
from polybake.files.model_folder import ModelFolder
from polybake.sources.checkpoint import Checkpoint
from polybake.sources.lookup import LOOKUPS
from polybake.sources.sentence_transformers.model_settings import read_model_settings
from polybake.sources.sentence_transformers.module_steps import OWN_POOLING, module_steps
from polybake.sources.sentence_transformers.modules import Module, read_modules
from polybake.sources.sentence_transformers.routed import Routed
from polybake.sources.sentence_transformers.router import same_tokenizer
from polybake.sources.sentence_transformers.transformer_settings import read_transformer_settings
from polybake.sources.source import Encoder, OpenEncoder, Source
from polybake.tokenization.tokenizer import BakedTokenizer, bake_tokenizer


def open_sentence_transformers(folder: ModelFolder, open_encoder: OpenEncoder) -> Source:
    """Open a folder with modules.json.

    Args:
        folder: The model's folder.
        open_encoder: Finds the encoder in the folder of the first module.

    Raises:
        InputError: a module or setting is unknown or not supported, or something is missing.
    """
    settings = read_model_settings(folder)
    prompts = settings.prompts
    modules = read_modules(folder, prompts)
    for module in modules:  # sentence-transformers has the prompts query and document by itself
        if module.router is not None:
            prompts = {**dict.fromkeys(module.router.tasks, ""), **prompts}
    first, *others = modules
    if first.kind == "Transformer" and not _gives_hidden_states(folder.inner(first.path)):
        others = [module for module in others if module.kind != "WeightedLayerPooling"]
    encoder: Encoder
    if first.routes:
        encoder, tokenizer = _routed(folder, first, open_encoder)
        rest = {name: modules[1:] for name, modules in first.routes.items()}
        others = [replace(first, routes=rest), *others]
    elif first.kind in LOOKUPS:
        encoder, tokenizer = LOOKUPS[first.kind](folder.inner(first.path))
    else:
        encoder, tokenizer = _body(folder, [first], open_encoder)
    return Source(
        encoder=encoder,
        tokenizer=tokenizer,
        folder=folder.path,
        identifier=identifier(folder.path),
        licence=folder.licence(),
        recipe=(
            *OWN_POOLING.get(first.kind, ()),
            *module_steps(folder, others, pooled=first.kind in OWN_POOLING),
            *settings.truncation,
        ),
        prompts=prompts,
        default_prompt=settings.default_prompt,
        similarity=settings.similarity,
    )


def _routed(
    folder: ModelFolder, router: Module, open_encoder: OpenEncoder
) -> tuple[Routed, BakedTokenizer]:
    """The encoders that the routes begin with, and their one tokenizer."""
    bodies = {name: _body(folder, modules, open_encoder) for name, modules in router.routes.items()}
    tokenizers = {name: tokenizer for name, (_, tokenizer) in bodies.items()}
    encoders = {name: one for name, (one, _) in bodies.items() if isinstance(one, Checkpoint)}
    if len(encoders) < len(bodies):
        raise InputError(
            f"{folder.path}: each of the routes {', '.join(bodies)} has an encoder of its own, "
            "and an .onnx file is one encoder; give the folder itself, without an encoder option"
        )
    return Routed(encoders), same_tokenizer(folder, tokenizers)


def _body(
    folder: ModelFolder, modules: Sequence[Module], open_encoder: OpenEncoder
) -> tuple[Encoder, BakedTokenizer]:
    """The encoder that ``modules`` begin with, and its tokenizer."""
    found = modules[0].kind if modules else "nothing"
    if found != "Transformer":
        raise InputError(
            f"{folder.path / 'modules.json'}: begins with {found}; "
            f"expected one of: {', '.join(['Transformer', *LOOKUPS])}"
        )
    body = folder.inner(modules[0].path)
    tokenizer = _tokenizer(body)
    return open_encoder(body, tokenizer), tokenizer


def _tokenizer(body: ModelFolder) -> BakedTokenizer:
    settings = read_transformer_settings(body)
    return bake_tokenizer(
        body, max_seq_length=settings.max_seq_length, lowercase=settings.lowercase
    )


def _gives_hidden_states(body: ModelFolder) -> bool:
    """Whether a WeightedLayerPooling has anything to do; without hidden states it does nothing.

    Source: sentence-transformers ``WeightedLayerPooling.forward``.
    """
    return body.settings("config.json").get("output_hidden_states") is True
