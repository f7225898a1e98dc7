"""A sentence-transformers folder: modules.json lists the encoder and the steps after it."""

from collections.abc import Iterable, Mapping, Sequence

from polybake.baking.sources.built_encoder import BuiltEncoder
from polybake.baking.sources.heads import masked_lm
from polybake.baking.sources.sentence_transformers.encoder_per_route import (
    EncoderPerRoute,
    same_tokenizer,
)
from polybake.baking.sources.sentence_transformers.first_modules import FIRST, RUN_HEAD
from polybake.baking.sources.sentence_transformers.model_settings import read_model_settings
from polybake.baking.sources.sentence_transformers.module import Module
from polybake.baking.sources.sentence_transformers.module_recipe import module_recipe
from polybake.baking.sources.sentence_transformers.modules_json import read_modules
from polybake.baking.sources.sentence_transformers.sparse_static_embedding import open_beside
from polybake.baking.sources.source import Encoder, OpenEncoder, Source, TaskHead
from polybake.base.files.model_folder import ModelFolder
from polybake.errors import InputError
from polybake.runtime.tokenization.model_config import ModelConfig
from polybake.runtime.tokenization.tokenizer import BakedTokenizer

#: The modules that a route may begin with if each route has its own encoder.
_STATIC = "SparseStaticEmbedding"
_PER_ROUTE = ("Transformer", "MLMTransformer", _STATIC)


def open_sentence_transformers(folder: ModelFolder, open_encoder: OpenEncoder) -> Source:
    """Open a folder with modules.json.

    Args:
        folder: The model's folder.
        open_encoder: Finds the encoder in the folder of the first module.

    Raises:
        InputError: a module or setting is unknown or not supported, or something is missing.
    """
    settings = read_model_settings(folder)
    prompts = settings.prompts or {}
    modules = read_modules(folder, prompts)
    for module in modules:  # sentence-transformers has the prompts query and document by itself
        if module.router is not None:
            prompts = {**dict.fromkeys(module.router.tasks, ""), **prompts}
    first, *others = modules
    encoder: Encoder
    if first.router is not None:
        encoder, tokenizer = _open_routes(folder, first.router.routes, open_encoder)
        begins = [route[0] for route in first.router.routes.values()]
    else:
        if first.kind not in FIRST:
            raise _begins(folder, f"begins with {first.kind}", FIRST)
        known, body = FIRST[first.kind], folder.inner(first.path)
        encoder, tokenizer = known.open(body, open_encoder)
        if (
            first.kind == "Transformer"
            and not body.read("config.json", ModelConfig).output_hidden_states
        ):
            # Source: WeightedLayerPooling.forward, which then does nothing.
            others = [module for module in others if module.kind != "WeightedLayerPooling"]
        begins = [first]
    return Source(
        encoder=encoder,
        tokenizer=tokenizer,
        folder=folder,
        recipe=(*module_recipe(folder, [first, *others], begins=True), *settings.recipe),
        prompts=prompts,
        default_prompt=settings.default_prompt_name,
        similarity=settings.similarity,
        head=_head(folder, begins),
        saved_as=settings.model_type,
    )


def _open_routes(
    folder: ModelFolder, routes: Mapping[str, Sequence[Module]], open_encoder: OpenEncoder
) -> tuple[EncoderPerRoute, BakedTokenizer]:
    """Return the encoders that the routes begin with, and their common tokenizer."""
    encoders: dict[str, BuiltEncoder] = {}
    tokenizers: dict[str, BakedTokenizer] = {}
    kinds = {name: modules[0].kind if modules else "nothing" for name, modules in routes.items()}
    for name in sorted(routes, key=lambda name: kinds[name] == _STATIC):
        if kinds[name] not in _PER_ROUTE:
            raise _begins(folder, f"route {name!r} begins with {kinds[name]}", _PER_ROUTE)
        body = folder.inner(routes[name][0].path)
        encoder: Encoder
        if kinds[name] == _STATIC and tokenizers:
            encoder, tokenizers[name] = open_beside(body, next(iter(tokenizers.values())))
        else:
            encoder, tokenizers[name] = FIRST[kinds[name]].open(body, open_encoder)
        if not isinstance(encoder, BuiltEncoder):
            raise InputError(
                f"{folder.path}: each of the routes {', '.join(routes)} has an encoder of "
                "its own, and an .onnx file is one encoder; give the folder itself, without an "
                "encoder option"
            )
        encoders[name] = encoder
    encoders = {name: encoders[name] for name in routes}
    name = "; ".join(f"{route}: {one.name}" for route, one in encoders.items())
    return EncoderPerRoute(name, encoders), same_tokenizer(folder, tokenizers)


def _head(folder: ModelFolder, begins: Iterable[Module]) -> TaskHead | None:
    """Return the head of the first encoder, if a module runs the head, too."""
    bodies = [(module.kind, folder.inner(module.path)) for module in begins]
    return next(
        (masked_lm(body) for kind, body in bodies if FIRST[kind].recipe(body) == RUN_HEAD), None
    )


def _begins(folder: ModelFolder, found: str, expected: Iterable[str]) -> InputError:
    return InputError(
        f"{folder.path / 'modules.json'}: {found}; expected one of: {', '.join(expected)}"
    )
