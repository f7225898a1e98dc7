"""A sentence-transformers folder: modules.json lists the encoder and the steps after it.

Module types are matched by their last name against an allow-list; nothing they name is imported.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

from polybake.errors import InputError
from polybake.manifest import Similarity
from polybake.modelfolder import ModelFolder
from polybake.sources.identity import identifier
from polybake.sources.source import OpenEncoder, Recipe, Source
from polybake.tokenizer import bake_tokenizer

#: Settings of the Transformer module, by every name that versions since 1.0 gave the file.
_TRANSFORMER_SETTINGS = (
    "sentence_bert_config.json",
    "sentence_roberta_config.json",
    "sentence_distilbert_config.json",
    "sentence_camembert_config.json",
    "sentence_albert_config.json",
    "sentence_xlm-roberta_config.json",
    "sentence_xlnet_config.json",
)

#: The old schema of Pooling, in the order in which several are concatenated.
_POOLING_BOOLEANS = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len_tokens",
    "pooling_mode_weightedmean_tokens": "weightedmean",
    "pooling_mode_lasttoken": "lasttoken",
}


#: Modules that stand between the encoder and the pooling, and the steps that they are.
_TOKEN_MODULES = {"CNN": "cnn", "LSTM": "lstm"}

_KNOWN = ("Transformer", "Pooling", "Normalize", "Dense", "LayerNorm", "Dropout", *_TOKEN_MODULES)


@dataclass(frozen=True)
class _Module:
    """One entry of modules.json."""

    kind: str
    path: str


def open_sentence_transformers(folder: ModelFolder, open_encoder: OpenEncoder) -> Source:
    """Open a folder with modules.json.

    Args:
        folder: The model's folder.
        open_encoder: Finds the encoder in the folder of the first module.

    Raises:
        InputError: a module or setting is unknown or not supported, or something is missing.
    """
    modules = _modules(folder)
    if modules[0].kind != "Transformer":
        raise InputError(
            f"{folder.path / 'modules.json'}: begins with {modules[0].kind}; expected Transformer"
        )
    body = folder.inner(modules[0].path)
    settings = _transformer_settings(body)
    config = folder.settings("config_sentence_transformers.json")
    limit = settings.get("max_seq_length")
    tokenizer = bake_tokenizer(
        body,
        max_seq_length=limit if isinstance(limit, int) else None,
        lowercase=settings.get("do_lower_case") is True,
    )
    return Source(
        encoder=open_encoder(body, tokenizer),
        tokenizer=tokenizer,
        folder=folder.path,
        identifier=identifier(folder.path),
        licence=folder.licence(),
        recipe=(*_recipe(folder, modules[1:]), *_truncation(folder, config)),
        prompts=_prompts(folder, config),
        default_prompt=_default_prompt(folder, config),
        similarity=_similarity(folder, config),
    )


def _modules(folder: ModelFolder) -> list[_Module]:
    path = folder.path / "modules.json"
    listed = folder.json("modules.json")
    if not isinstance(listed, list) or not listed:
        raise InputError(f"{path}: expected a list of modules; download it again")
    modules = []
    for entry in listed:
        kind = entry.get("type") if isinstance(entry, dict) else None
        where = entry.get("path") if isinstance(entry, dict) else None
        if not isinstance(kind, str) or not isinstance(where, str):
            raise InputError(
                f"{path}: {entry!r} is no module with type and path; download it again"
            )
        name = kind.rsplit(".", 1)[-1]
        if name not in _KNOWN:
            raise InputError(
                f"{path}: unknown module type {kind!r}; known are: {', '.join(_KNOWN)}"
            )
        modules.append(_Module(name, where))
    return modules


def _transformer_settings(body: ModelFolder) -> dict[str, object]:
    settings: dict[str, object] = {}
    for name in _TRANSFORMER_SETTINGS:
        settings = settings or body.settings(name)
    for key in ("query_length", "document_length"):
        if settings.get(key) is not None:
            raise _unsupported(body, key, settings[key])
    if body.settings("tokenizer_config.json").get("chat_template") is not None or body.file(
        "chat_template.jinja"
    ):
        raise _unsupported(body, "chat_template", "…")
    return settings


def _recipe(folder: ModelFolder, modules: list[_Module]) -> Recipe:
    recipe: list[dict[str, object]] = []
    pooled = False
    for module in modules:
        config = folder.inner(module.path).settings("config.json")
        if module.kind == "Pooling":
            recipe.append({"step": "pool", **_pooling(config)})
            pooled = True
            continue
        if module.kind in _TOKEN_MODULES:
            recipe.append({"step": _TOKEN_MODULES[module.kind], "source": module.path})
            continue
        expected = "sentence_embedding" if pooled else "token_embeddings"
        taken = config.get("module_input_name") or "sentence_embedding"
        given = config.get("module_output_name") or taken
        if (taken, given) != (expected, expected):
            raise _unsupported(folder, f"{module.path}: module_input_name", taken)
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
                f"expected one of: {', '.join(_KNOWN[1:])}"
            )
    return tuple(recipe)


def _truncation(folder: ModelFolder, config: dict[str, object]) -> Recipe:
    """The cut after all modules, which leaves vectors shorter than 1 behind a Normalize.

    Source: sentence-transformers ``SentenceTransformer.encode``, ``truncate_dim``.
    """
    dimension = config.get("truncate_dim")
    if dimension is None:
        return ()
    if not isinstance(dimension, int) or dimension < 1:
        raise _unsupported(folder, "truncate_dim", dimension)
    return ({"step": "truncate", "dimension": dimension},)


def _pooling(config: dict[str, object]) -> dict[str, object]:
    """The mode, or the list of modes that are concatenated, and whether prompts are left out.

    Source: sentence-transformers ``Pooling.load_config``.
    """
    if "pooling_mode" in config:
        modes = config["pooling_mode"]
    else:
        modes = [mode for key, mode in _POOLING_BOOLEANS.items() if config.get(key)] or ["mean"]
    mode = modes[0] if isinstance(modes, list) and len(modes) == 1 else modes
    left_out = {} if config.get("include_prompt", True) else {"include_prompt": False}
    return {"mode": mode, **left_out}


def _prompts(folder: ModelFolder, config: dict[str, object]) -> dict[str, str]:
    prompts = config.get("prompts") or {}
    if not isinstance(prompts, dict) or not all(isinstance(text, str) for text in prompts.values()):
        raise _unsupported(folder, "prompts", prompts)
    return prompts


def _default_prompt(folder: ModelFolder, config: dict[str, object]) -> str | None:
    name = config.get("default_prompt_name")
    if name is not None and name not in _prompts(folder, config):
        raise _unsupported(folder, "default_prompt_name", name)
    return name if isinstance(name, str) else None


def _similarity(folder: ModelFolder, config: dict[str, object]) -> Similarity:
    found = config.get("similarity_fn_name") or "cosine"
    for name in get_args(Similarity):
        if found == name:
            return name  # type: ignore[no-any-return] # get_args gives Any
    raise _unsupported(folder, "similarity_fn_name", found)


def _unsupported(folder: ModelFolder, key: str, value: object) -> InputError:
    return InputError(
        f"{folder.path}: {key} = {value!r} is not supported; "
        "give the encoder's .onnx file and list its steps in polybake.toml"
    )
