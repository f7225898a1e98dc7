"""The steps that the modules behind an encoder are."""

from collections.abc import Sequence

from polybake.baking.sources.sentence_transformers import OWN_STEPS
from polybake.baking.sources.sentence_transformers.first_modules import FIRST
from polybake.baking.sources.sentence_transformers.module import Module
from polybake.baking.sources.sentence_transformers.saved_modules import FOLLOWING
from polybake.baking.sources.source import Recipe
from polybake.base.files.model_folder import ModelFolder
from polybake.base.files.validation import JsonModel
from polybake.errors import InputError


class _Names(JsonModel):
    """The input and output in the configuration of a module that can have several."""

    module_input_name: str | None = None
    module_output_name: str | None = None


def module_recipe(
    folder: ModelFolder,
    modules: Sequence[Module],
    *,
    begins: bool = False,
    pooled: bool = False,
    unnamed: str = "sentence_embedding",
    output: str | None = None,
    special_tokens: tuple[int, int] = (0, 0),
) -> Recipe:
    """Convert modules to steps of polybake.toml.

    The first one is the encoder, or routes with one each, if ``begins``; there is one vector a
    text already if ``pooled``. ``unnamed`` is the input of modules that name none, ``output`` that
    of the last one where it differs from its input, and ``special_tokens`` stand around texts.
    """
    recipe: list[dict[str, object]] = []
    for index, module in enumerate(modules):
        first = begins and index == 0
        if (router := module.router) is not None:
            routes = {
                name: module_recipe(
                    folder, route, begins=first, pooled=pooled, special_tokens=special_tokens
                )
                for name, route in router.routes.items()
            }
            default = {} if router.default is None else {"default": router.default}
            prompts = {"prompts": dict(router.prompts)} if router.prompts else {}
            recipe.append({"step": "route", **default, **prompts, "routes": routes})
            pooled = pooled or any(map(_pools, routes.values()))
            continue
        inner = folder.inner(module.path)
        if first:
            if FIRST[module.kind].bare and any(special_tokens):
                before, behind = special_tokens
                recipe.append({"step": "leave_out_ends", "first": before, "last": behind})
            recipe += FIRST[module.kind].recipe(inner)
            pooled = FIRST[module.kind].pooled
            continue
        known = FOLLOWING.get(module.kind)
        if known is None:
            raise InputError(
                f"{folder.path / 'modules.json'}: {module.kind} stands after the first module; "
                f"expected one of: {', '.join(FOLLOWING)}; {OWN_STEPS}"
            )
        if known.named:
            names = inner.read("config.json", _Names, needed=known.needed)
            expected = "sentence_embedding" if pooled else "token_embeddings"
            last = output is not None and index == len(modules) - 1
            _check_names(inner, names, unnamed, (expected, output if last else expected))
        parameters = known.parameters(inner) if known.inline else {"source": module.path}
        recipe.append({"step": known.step.name, **parameters})
        pooled = pooled or _pools(recipe)
    return tuple(recipe)


def _pools(recipe: Sequence[dict[str, object]]) -> bool:
    return any(step["step"] in ("pool", "splade") for step in recipe)


def _check_names(
    folder: ModelFolder, names: _Names, unnamed: str, expected: tuple[str, str | None]
) -> None:
    source = names.module_input_name or unnamed
    result = names.module_output_name or source
    if (source, result) != expected:
        shown = " and ".join(map(repr, dict.fromkeys(expected)))
        raise InputError(
            f"{folder.path}: module_input_name is {source!r} and module_output_name {result!r}, "
            f"expected {shown} there; {OWN_STEPS}"
        )
