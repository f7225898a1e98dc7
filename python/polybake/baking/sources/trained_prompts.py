"""Families of models that were trained with prompts which only their model cards name."""

import re

from pydantic import Field

from polybake.base.files.model_folder import ModelFolder
from polybake.base.files.validation import JsonModel

#: Characters of a name that are looked at.
_LONGEST = 200

_PASSAGES = "Represent this sentence for searching relevant passages: "

#: Patterns of names in lower case, and the family's prompt for queries; the first match counts.
#: Source: the model cards of the families' models on the Hugging Face hub.
_FAMILIES = {
    re.compile(name): query
    for name, query in {
        r"\be5-mistral|-instruct\b": "Instruct: (what to find)\\nQuery: ",
        r"\b(multilingual-)?e5-(small|base|large)\b": "query: ",
        r"\bbge-(small|base|large)-en\b": _PASSAGES,
        r"\bbge-(small|base|large)-zh\b": "为这个句子生成表示以用于检索相关文章：",  # noqa: RUF001
        r"\bnomic-embed-text\b": "search_query: ",
        r"\bmxbai-embed\b|\buae-(large|base|small)\b": _PASSAGES,
        r"\barctic-embed-.*v2": "query: ",
        r"\barctic-embed\b": _PASSAGES,
    }.items()
}


class _Named(JsonModel):
    """The key of config.json with the model's origin."""

    name: object = Field(default=None, validation_alias="_name_or_path")


def trained_prompt(folder: ModelFolder) -> tuple[str, str] | None:
    """Return the name of a family's model and its prompt for queries; None if unknown.

    Args:
        folder: The model's folder; its own name counts before the name in config.json.
    """
    came_from = folder.read("config.json", _Named).name
    for name in (folder.identifier, str(came_from)[:_LONGEST]):
        for family, query in _FAMILIES.items():
            if family.search(name.lower()):
                return name, query
    return None
