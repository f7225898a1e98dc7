"""A sentence-transformers folder: modules.json lists the encoder and the steps after it."""

from collections.abc import Iterable, Mapping, Sequence

from polybake.baking.sources.built_encoder import BuiltEncoder
from polybake.baking.sources.heads import masked_lm
from polybake.baking.sources.heads.bge_m3 import bge_m3
from polybake.baking.sources.sentence_transformers import OWN_STEPS
from polybake.baking.sources.sentence_transformers.encoder_per_route import (
    EncoderPerRoute,
    same_tokenizer,
)
from polybake.baking.sources.sentence_transformers.first_modules import FIRST, RUN_HEAD
from polybake.baking.sources.sentence_transformers.messages import open_messages
from polybake.baking.sources.sentence_transformers.model_settings import read_model_settings
from polybake.baking.sources.sentence_transformers.module import Module
from polybake.baking.sources.sentence_transformers.module_recipe import module_recipe
from polybake.baking.sources.sentence_transformers.modules_json import read_modules
from polybake.baking.sources.sentence_transformers.route_limits import (
    NOT_IN_ROUTERS,
    cut_by_route,
    read_limits,
    route_of_limits,
)
from polybake.baking.sources.sentence_transformers.transformer import takes_messages
from polybake.baking.sources.source import Encoder, OpenEncoder, Recipe, Source, TaskHead
from polybake.baking.tokenizer.model_config import ModelConfig
from polybake.base.files.model_folder import ModelFolder
from polybake.errors import InputError
from polybake.runtime.tokenizer import BakedTokenizer

_ENCODERS = ("Transformer", "MLMTransformer")
#: The tables that a route may begin with if the other one has an encoder.
_STATIC = tuple(kind for kind, first in FIRST.items() if first.beside is not None)
_PER_ROUTE = (*_ENCODERS, *_STATIC)


def open_sentence_transformers(folder: ModelFolder, open_encoder: OpenEncoder) -> Source:
    """Open a folder with modules.json."""
    settings = read_model_settings(folder)
    prompts, default = settings.prompts or {}, settings.default_prompt_name
    modules = read_modules(folder, prompts)
    for module in modules:  # sentence-transformers has the prompts query and document by itself
        if module.router is not None:
            prompts = {**dict.fromkeys(module.router.tasks, ""), **prompts}
    first, *others = modules
    encoder: Encoder
    cut: Recipe = ()
    special = (0, 0)
    messages = False
    if first.router is not None:
        encoder, tokenizer = _open_routes(folder, first.router.routes, open_encoder)
        special = tokenizer.special_tokens
        begins = [route[0] for route in first.router.routes.values()]
    else:
        if first.kind not in FIRST:
            raise _begins(folder, f"begins with {first.kind}", FIRST)
        known, body = FIRST[first.kind], folder.inner(first.path)
        routed = any(module.router is not None for module in modules)
        messages = first.kind == "Transformer" and not routed and takes_messages(body)
        if messages:
            opened = open_messages(body, open_encoder, prompts, default)
            encoder, tokenizer, prompts, default = opened
        else:
            encoder, tokenizer = known.open(body, open_encoder)
        if first.kind in _ENCODERS and not messages:
            limits, tokenizer = read_limits(body, tokenizer)
            if limits is not None:
                encoder = cut_by_route(body, encoder, tokenizer, limits)
                if routed:
                    raise InputError(f"{body.path}: {NOT_IN_ROUTERS}")
                cut, prompts = route_of_limits(limits, prompts)
        if first.kind == "Transformer" and not ModelConfig.of(body).output_hidden_states:
            # Source: WeightedLayerPooling.forward, which then does nothing.
            others = [module for module in others if module.kind != "WeightedLayerPooling"]
        begins = [first]
    steps = module_recipe(folder, [first, *others], begins=True, special_tokens=special)
    if messages:  # the library does not count a prompt's tokens then
        steps = tuple({key: step[key] for key in step if key != "include_prompt"} for step in steps)
    return Source(
        encoder=encoder,
        tokenizer=tokenizer,
        folder=folder,
        recipe=(*cut, *steps, *settings.recipe),
        prompts=prompts,
        default_prompt=default,
        rendered=messages,
        similarity=settings.similarity,
        head=_head(folder, begins) or _layers_beside(folder, begins, tokenizer),
        saved_as=settings.model_type,
    )


def _open_routes(
    folder: ModelFolder, routes: Mapping[str, Sequence[Module]], open_encoder: OpenEncoder
) -> tuple[BuiltEncoder, BakedTokenizer]:
    """Return the encoders that the routes begin with, and their common tokenizer."""
    encoders: dict[str, BuiltEncoder] = {}
    tokenizers: dict[str, BakedTokenizer] = {}
    kinds = {name: modules[0].kind if modules else "nothing" for name, modules in routes.items()}
    for name in sorted(routes, key=lambda name: kinds[name] in _STATIC):
        if kinds[name] not in _PER_ROUTE:
            raise _begins(folder, f"route {name!r} begins with {kinds[name]}", _PER_ROUTE)
        body = folder.inner(routes[name][0].path)
        first = FIRST[kinds[name]]
        encoder: Encoder
        if first.beside is not None and tokenizers:
            encoder, tokenizers[name] = first.beside(body, next(iter(tokenizers.values())))
        else:
            encoder, tokenizers[name] = first.open(body, open_encoder)
        if kinds[name] in _ENCODERS and read_limits(body, tokenizers[name])[0] is not None:
            raise InputError(f"{body.path}: {NOT_IN_ROUTERS}")
        if not isinstance(encoder, BuiltEncoder):
            raise InputError(
                f"{folder.path}: each of the routes {', '.join(routes)} has an encoder of "
                "its own, and an .onnx file is one encoder; give the folder itself, without an "
                "encoder option"
            )
        encoders[name] = encoder
    name = "; ".join(f"{route}: {encoders[route].name}" for route in routes)
    union = EncoderPerRoute(name, {route: encoders[route] for route in routes})
    tokenizer = same_tokenizer(folder, tokenizers)
    limits = {route: tokenizers[route].max_length for route in routes}
    if len({*limits.values()}) == 1:
        return union, tokenizer
    return cut_by_route(folder, union, tokenizer, limits), tokenizer


def _head(folder: ModelFolder, begins: Iterable[Module]) -> TaskHead | None:
    """Return the head of the first encoder, if a module runs the head, too."""
    bodies = [(module.kind, folder.inner(module.path)) for module in begins]
    return next(
        (masked_lm(body) for kind, body in bodies if FIRST[kind].recipe(body) == RUN_HEAD), None
    )


def _layers_beside(
    folder: ModelFolder, begins: Sequence[Module], tokenizer: BakedTokenizer
) -> TaskHead | None:
    """Return the layers of BGE-M3, which lie beside its encoder and its settings."""
    alone = [(module.kind, module.path) for module in begins] == [("Transformer", "")]
    return bge_m3(folder, tokenizer) if alone else None


def _begins(folder: ModelFolder, problem: str, expected: Iterable[str]) -> InputError:
    return InputError(
        f"{folder.path / 'modules.json'}: {problem}; expected one of: {', '.join(expected)}; "
        f"{OWN_STEPS}"
    )
