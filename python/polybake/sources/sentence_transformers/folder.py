"""A sentence-transformers folder: modules.json lists the encoder and the steps after it."""

from collections.abc import Iterable
from dataclasses import replace

from polybake.errors import InputError
from polybake.files.model_folder import ModelFolder
from polybake.sources.built_encoder import BuiltEncoder
from polybake.sources.sentence_transformers.encoder_per_route import (
    EncoderPerRoute,
    same_tokenizer,
)
from polybake.sources.sentence_transformers.first_modules import FIRST
from polybake.sources.sentence_transformers.model_settings import read_model_settings
from polybake.sources.sentence_transformers.module import Router
from polybake.sources.sentence_transformers.module_recipe import module_recipe
from polybake.sources.sentence_transformers.modules_json import read_modules
from polybake.sources.sentence_transformers.transformer import open_transformer
from polybake.sources.source import Encoder, OpenEncoder, Source
from polybake.tokenization.model_config import ModelConfig
from polybake.tokenization.tokenizer import BakedTokenizer


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
        encoder, tokenizer = _open_routes(folder, first.router, open_encoder)
        rest = {name: route[1:] for name, route in first.router.routes.items()}
        behind = replace(first, router=replace(first.router, routes=rest))
        recipe = module_recipe(folder, [behind, *others])
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
        recipe = (*known.recipe, *module_recipe(folder, others, pooled=known.pooled))
    return Source(
        encoder=encoder,
        tokenizer=tokenizer,
        folder=folder,
        recipe=(*recipe, *settings.truncation),
        prompts=prompts,
        default_prompt=settings.default_prompt_name,
        similarity=settings.similarity_fn_name or "cosine",
    )


def _open_routes(
    folder: ModelFolder, router: Router, open_encoder: OpenEncoder
) -> tuple[EncoderPerRoute, BakedTokenizer]:
    """The encoders that the routes begin with, and their one tokenizer."""
    encoders: dict[str, BuiltEncoder] = {}
    tokenizers: dict[str, BakedTokenizer] = {}
    for name, modules in router.routes.items():
        if not modules or modules[0].kind != "Transformer":
            found = modules[0].kind if modules else "nothing"
            raise _begins(folder, f"route {name!r} begins with {found}", ["Transformer"])
        body = folder.inner(modules[0].path)
        encoder, tokenizers[name] = open_transformer(body, open_encoder)
        if not isinstance(encoder, BuiltEncoder):
            raise InputError(
                f"{folder.path}: each of the routes {', '.join(router.routes)} has an encoder of "
                "its own, and an .onnx file is one encoder; give the folder itself, without an "
                "encoder option"
            )
        encoders[name] = encoder
    name = "; ".join(f"{route}: {one.name}" for route, one in encoders.items())
    return EncoderPerRoute(name, encoders), same_tokenizer(folder, tokenizers)


def _begins(folder: ModelFolder, found: str, expected: Iterable[str]) -> InputError:
    return InputError(
        f"{folder.path / 'modules.json'}: {found}; expected one of: {', '.join(expected)}"
    )
