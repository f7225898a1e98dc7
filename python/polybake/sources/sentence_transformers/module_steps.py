"""The steps that the modules of a sentence-transformers folder are."""

from __future__ import annotations

from collections.abc import Sequence

from polybake.errors import InputError
from polybake.files.model_folder import ModelFolder
from polybake.sources.sentence_transformers.modules import FOLLOWING, TOKEN_MODULES, Module
from polybake.sources.sentence_transformers.router import Router
from polybake.sources.sentence_transformers.unsupported import unsupported
from polybake.sources.source import Recipe

#: The old schema of Pooling, in the order in which several are concatenated.
_POOLING_BOOLEANS = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len_tokens",
    "pooling_mode_weightedmean_tokens": "weightedmean",
    "pooling_mode_lasttoken": "lasttoken",
}

#: What else a Pooling may say; the sizes follow from the encoder.
_POOLING_KEYS = (
    "pooling_mode",
    "include_prompt",
    "word_embedding_dimension",
    "embedding_dimension",
    *_POOLING_BOOLEANS,
)

#: Encoders that give one vector a text, and the step that says how.
OWN_POOLING: dict[str, Recipe] = {
    "StaticEmbedding": ({"step": "pool", "mode": "mean"},),
    "BoW": (),
}


def module_steps(folder: ModelFolder, modules: Sequence[Module], pooled: bool = False) -> Recipe:
    """The modules after the encoder as steps of polybake.toml.

    Args:
        folder: The model's folder.
        modules: What follows the encoder.
        pooled: Whether the encoder gives one vector a text already.

    Raises:
        InputError: a module or one of its settings is not supported.
    """
    recipe: list[dict[str, object]] = []
    for module in modules:
        if module.router is not None:
            routes = {
                name: module_steps(folder, one, pooled) for name, one in module.routes.items()
            }
            recipe.append({"step": "route", **_route_choice(module.router), "routes": routes})
            pooled = pooled or any(
                one["step"] == "pool" for some in routes.values() for one in some
            )
            continue
        if module.kind == "Pooling":
            recipe.append({"step": "pool", **_pooling(folder.inner(module.path))})
            pooled = True
            continue
        if module.kind in TOKEN_MODULES:
            recipe.append({"step": TOKEN_MODULES[module.kind], "source": module.path})
            continue
        inner = folder.inner(module.path)
        needed = module.kind == "Dense"  # the others may be saved without one
        config = (inner.needed_settings if needed else inner.settings)("config.json")
        expected = "sentence_embedding" if pooled else "token_embeddings"
        taken = config.get("module_input_name") or "sentence_embedding"
        given = config.get("module_output_name") or taken
        if (taken, given) != (expected, expected):
            raise unsupported(folder, f"{module.path}: module_input_name", taken)
        if module.kind == "Normalize":
            recipe.append({"step": "normalize"})
        elif module.kind == "Dense":
            recipe.append({"step": "dense", "source": module.path})
        elif module.kind == "LayerNorm":
            recipe.append({"step": "layer_norm", "source": module.path})
        elif module.kind == "Dropout":
            recipe.append({"step": "dropout"})
        else:
            raise InputError(
                f"{folder.path / 'modules.json'}: {module.kind} stands after the first module; "
                f"expected one of: {', '.join(FOLLOWING)}"
            )
    return tuple(recipe)


def _route_choice(router: Router) -> dict[str, object]:
    default = {} if router.default is None else {"default": router.default}
    return {**default, **({"prompts": dict(router.prompts)} if router.prompts else {})}


def _pooling(folder: ModelFolder) -> dict[str, object]:
    """The mode, or the list of modes that are concatenated, and whether prompts are left out.

    Source: sentence-transformers ``Pooling.load_config``.
    """
    config = folder.needed_settings("config.json")
    for key, value in config.items():
        if key not in _POOLING_KEYS:
            raise unsupported(folder, f"config.json: {key}", value)
    if "pooling_mode" in config:
        modes = config["pooling_mode"]
    else:
        modes = [mode for key, mode in _POOLING_BOOLEANS.items() if config.get(key)] or ["mean"]
    mode = modes[0] if isinstance(modes, list) and len(modes) == 1 else modes
    left_out = {} if config.get("include_prompt", True) else {"include_prompt": False}
    return {"mode": mode, **left_out}
