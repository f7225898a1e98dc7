"""Prompts that published models were trained with, and that only their model cards name."""

import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from polybake.base.files.hub_reference import repository_of
from polybake.base.files.model_folder import ModelFolder
from polybake.base.files.validation import JsonModel

_LISTED = Path(__file__).with_name("trained_prompts.toml")

#: Words of a README by which it is another model in another form, and not one made from it.
_CONVERTED = re.compile(
    r"^(?:base_model_relation:[ \t]*quantized|library_name:[ \t]*transformers\.js)[ \t]*$",
    re.MULTILINE,
)
_NAME = r"[ \t]*[\"']?([\w./-]+)[\"']?[ \t]*$"
_BASE = re.compile(rf"^base_model:(?:[ \t]*\n[ \t]*-)?{_NAME}", re.MULTILINE)
#: The name in a model card's results.
_RESULTS = re.compile(rf"^model-index:[ \t]*\n[ \t]*-[ \t]*name:{_NAME}", re.MULTILINE)


@dataclass(frozen=True)
class Trained:
    """What a published model was trained with.

    Attributes:
        repository: ``owner/name`` on the Hugging Face hub.
        prompts: Texts by name; empty where the model takes texts as they are.
        remark: What else to do for them; may be empty.
        is_base: Whether it is the model that config.json names, which another was made from.
    """

    repository: str
    prompts: Mapping[str, str]
    remark: str
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


class _Models(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    repositories: list[str]
    source: str
    prompts: dict[str, str]
    remark: str = ""


class _Named(JsonModel):
    """The key of config.json with the model that it was saved from."""

    name: object = Field(default=None, validation_alias="_name_or_path")


@cache
def _known() -> dict[str, Trained]:
    """Published models by what their folders are called, in lower case."""
    found = {}
    for models in tomllib.loads(_LISTED.read_text("utf-8"))["models"]:
        listed = _Models.model_validate(models)
        for repository in listed.repositories:
            one = Trained(repository, listed.prompts, listed.remark)
            owner, _, name = repository.partition("/")
            for called in (repository, name, f"{owner}_{name}", f"{owner}--{name}"):
                found[called.lower()] = one
    return found


def published(identifier: str) -> Trained | None:
    """Return what the model of a source's identifier was trained with; None if it is not known.

    Args:
        identifier: ``hub:owner/name@commit``, ``owner/name``, or a folder that is called as the
            repository is.
    """
    return _known().get(repository_of(identifier).lower())


def trained_prompts(folder: ModelFolder) -> Trained | None:
    """Return what a folder's model was trained with; None if it is not known.

    A model is known by its own name, by a README that says which model it is, or by the name of a
    repository in config.json. Likeness of names is no sign.
    """
    return published(folder.identifier) or _by_readme(folder) or _by_config(folder)


def _by_readme(folder: ModelFolder) -> Trained | None:
    readme = folder.front_matter()
    base = _BASE.search(readme) if _CONVERTED.search(readme) else None
    names = [found[1] for found in (_RESULTS.search(readme), base) if found]
    return next((one for name in names if (one := published(name))), None)


def _by_config(folder: ModelFolder) -> Trained | None:
    name = folder.read("config.json", _Named).name
    found = published(str(name))
    return replace(found, is_base=True) if found and name == found.repository else None
