"""config_sentence_transformers.json: how texts of a model are prompted and its vectors compared."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from polybake.errors import InputError
from polybake.files.model_folder import ModelFolder
from polybake.modelfile.manifest import Similarity
from polybake.sources.source import Recipe

_FILE = "config_sentence_transformers.json"

#: What a model of floats may be compared by; sentence-transformers' manhattan is not baked.
_SIMILARITIES: dict[object, Similarity] = {
    "cosine": "cosine",
    "dot": "dot",
    "euclidean": "euclidean",
}


@dataclass(frozen=True)
class ModelSettings:
    """The settings that hold for a whole model.

    Attributes:
        prompts: Prompt texts by name.
        truncation: The cut after all modules, which leaves vectors shorter than 1 behind a
            Normalize.
    """

    prompts: Mapping[str, str]
    default_prompt: str | None
    similarity: Similarity
    truncation: Recipe


def read_model_settings(folder: ModelFolder) -> ModelSettings:
    """Read the settings of a model's folder; without the file they are the library's own.

    Raises:
        InputError: a setting is not what was expected.

    Source: sentence-transformers ``SentenceTransformer._parse_model_config`` and ``encode``.
    """
    config = folder.settings(_FILE)
    prompts = config.get("prompts") or {}
    if not isinstance(prompts, dict):
        raise _wrong(folder, "prompts", prompts, "texts by name")
    for name, text in prompts.items():
        if not isinstance(text, str) or not _is_unicode(name + text):
            raise _wrong(folder, f"prompts.{_shown(name)}", text, "a text of whole characters")
    default = config.get("default_prompt_name")
    if default is not None and (not isinstance(default, str) or default not in prompts):
        known = ", ".join(map(_shown, prompts)) or "none, as there are no prompts"
        raise _wrong(
            folder, "default_prompt_name", default, f"null or the name of a prompt: {known}"
        )
    named = config.get("similarity_fn_name") or "cosine"
    similarity = _SIMILARITIES.get(named) if isinstance(named, str) else None
    if similarity is None:
        raise _wrong(folder, "similarity_fn_name", named, " or ".join(map(_shown, _SIMILARITIES)))
    dimension = config.get("truncate_dim")
    if dimension is not None and (type(dimension) is not int or dimension < 1):
        raise _wrong(folder, "truncate_dim", dimension, "null or a whole number of 1 or more")
    cut: Recipe = () if dimension is None else ({"step": "truncate", "dimension": dimension},)
    return ModelSettings(prompts, default, similarity, cut)


def _is_unicode(text: str) -> bool:
    """Whether a text can be written: JSON may hold half of a character."""
    return not any("\ud800" <= character <= "\udfff" for character in text)


def _shown(value: object) -> str:
    return json.dumps(value)


def _wrong(folder: ModelFolder, key: str, value: object, expected: str) -> InputError:
    moved = ", or remove it and set prompts in polybake.toml" if "prompt" in key else ""
    return InputError(
        f"{folder.path / _FILE}: {key} = {_shown(value)}, expected {expected}; "
        f"correct it there{moved}"
    )
