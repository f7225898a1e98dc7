"""What published models are known to have, where their own files may not say it."""

import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from polybake.base.files.hub_reference import repository_of
from polybake.base.files.model_folder import ModelFolder
from polybake.base.files.validation import JsonModel

_LISTED = Path(__file__).with_name("published_models.toml")

#: Words of a README by which it is another model in another form, and not one made from it.
_CONVERTED = re.compile(
    r"^(?:base_model_relation:[ \t]*[\"']?quantized"
    r"|library_name:[ \t]*[\"']?transformers\.js)[\"']?[ \t]*$",
    re.MULTILINE,
)
_NAME = r"[ \t]*[\"']?([\w./-]+)[\"']?[ \t]*$"
_BASE = re.compile(rf"^base_model:(?:[ \t]*\n[ \t]*-)?{_NAME}", re.MULTILINE)
#: The name in a model card's results.
_RESULTS = re.compile(rf"^model-index:[ \t]*\n[ \t]*-[ \t]*name:{_NAME}", re.MULTILINE)
#: What those who convert models put around their names: ``fast-NAME``, ``NAME-onnx-Q``.
_AROUND = re.compile(r"^fast-|-onnx(?:-q)?$")


@dataclass(frozen=True)
class Published:
    """What a published model is known to have.

    Attributes:
        repository: ``owner/name`` on the Hugging Face hub.
        prompts: Texts by name; empty where the model takes texts as they are, or nobody knows.
        remark: What else to do for them; may be empty.
        steps: The steps behind its encoder, as in polybake.toml; empty where nobody knows. One
            whose weights lie in the repository is named alone.
        steps_source: Where the steps are written.
        known_by: What says that it is this model: ``its name``, ``README.md`` or ``config.json``.
        is_base: Whether it is the model that config.json names, which another was made from.
    """

    repository: str
    prompts: Mapping[str, str]
    remark: str = ""
    steps: tuple[Mapping[str, str], ...] = ()
    steps_source: str = ""
    known_by: str = "its name"
    is_base: bool = False

    @property
    def named(self) -> str:
        """The subject of a sentence that ends in *was trained with*."""
        return f"{self.repository}, which config.json names," if self.is_base else self.repository

    def settings(self) -> list[str]:
        """The prompts as lines of polybake.toml."""
        return [
            f"{name} = {json.dumps(text, ensure_ascii=False)}"
            for name, text in self.prompts.items()
        ]


class _Prompts(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    repositories: list[str]
    source: str
    texts: dict[str, str]
    remark: str = ""


class _Steps(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    repositories: list[str]
    source: str
    steps: list[dict[str, str]]


class _Named(JsonModel):
    """The key of config.json with the model that it was saved from."""

    name: object = Field(default=None, validation_alias="_name_or_path")


@cache
def _known() -> dict[str, Published]:
    """Published models by what their folders are called, in lower case."""
    listed: dict[str, Any] = tomllib.loads(_LISTED.read_text("utf-8"))
    models: dict[str, Published] = {}
    for prompts in map(_Prompts.model_validate, listed["prompts"]):
        for name in prompts.repositories:
            models[name] = Published(name, prompts.texts, prompts.remark)
    for steps in map(_Steps.model_validate, listed["steps"]):
        for name in steps.repositories:
            models[name] = replace(
                models.get(name, Published(name, {})),
                steps=tuple(steps.steps),
                steps_source=steps.source.replace("{repository}", name),
            )
    folders = {}
    for repository, model in models.items():
        owner, _, name = repository.partition("/")
        for folder in (repository, name, f"{owner}_{name}", f"{owner}--{name}"):
            folders[folder.lower()] = model
    return folders


def published(identifier: str) -> Published | None:
    """Return the published model of a source's identifier; None if it is not known."""
    return _known().get(repository_of(identifier).lower())


def published_model(folder: ModelFolder) -> Published | None:
    """Return the published model that a folder holds; None if it is not known.

    A model is known by its own name, by a README that says which model it is, or by the name of a
    repository in config.json. Likeness of names is no sign.
    """
    return published(folder.identifier) or _by_readme(folder) or _by_config(folder)


def _by_readme(folder: ModelFolder) -> Published | None:
    readme = folder.front_matter()
    base = _BASE.search(readme) if _CONVERTED.search(readme) else None
    names = [match[1] for match in (_RESULTS.search(readme), base) if match]
    model = next((entry for name in names if (entry := published(name))), None)
    return model and replace(model, known_by="README.md")


def _by_config(folder: ModelFolder) -> Published | None:
    """Return the model that config.json names.

    A conversion keeps the name that it was made of: its README says that it is one, or it is called
    as that model is. Anything else may have been trained further.
    """
    name = folder.read("config.json", _Named).name
    model = published(str(name))
    if model is None or name != model.repository:
        return None
    own = repository_of(folder.identifier).rpartition("/")[2].lower()
    is_it = _AROUND.sub("", own) == model.repository.partition("/")[2].lower()
    is_it = is_it or _CONVERTED.search(folder.front_matter()) is not None
    return replace(model, known_by="config.json", is_base=not is_it)
