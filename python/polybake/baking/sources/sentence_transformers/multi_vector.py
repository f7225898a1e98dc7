"""A folder of sentence-transformers' MultiVectorEncoder, or of PyLate's ColBERT."""

import string
from collections.abc import Collection
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from polybake.baking.sources.kind import SETTINGS, SavedBy
from polybake.baking.sources.sentence_transformers.module import PACKAGES
from polybake.baking.sources.sentence_transformers.module_recipe import module_recipe
from polybake.baking.sources.sentence_transformers.modules_json import read_modules
from polybake.baking.sources.sentence_transformers.token_vectors import TokenVectors
from polybake.baking.sources.sentence_transformers.transformer import (
    open_transformer,
    read_transformer_settings,
)
from polybake.baking.sources.sentence_transformers.transformer_settings import (
    MultiVectorSettings,
    QueryExpansion,
)
from polybake.baking.sources.source import OpenEncoder, Source
from polybake.baking.tokenizer.prompt_tokens import with_prefix_tokens
from polybake.base.files.known_keys import KnownKeys
from polybake.base.files.model_folder import ModelFolder
from polybake.base.files.validation import JsonModel
from polybake.errors import InputError

_MASK = "MultiVectorMask"
#: PyLate's package; its Dense is that of sentence-transformers, for tokens.
_PYLATE = "pylate.models."


class _Settings(SavedBy, KnownKeys):
    """The settings of a whole model; PyLate's settings replace modules that it does not list."""

    passed_over: ClassVar[Collection[str]] = ("__version__",)

    prompts: dict[str, str | None] | None = None
    default_prompt_name: None = None
    similarity_fn_name: str | None = None
    document_prefix: str | None = None
    query_length: Annotated[int, Field(gt=0)] | None = None
    document_length: Annotated[int, Field(gt=0)] | None = None
    do_query_expansion: bool | None = None
    attend_to_expansion_tokens: bool | None = None
    skiplist_words: list[str] | None = None

    @property
    def augmentation(self) -> QueryExpansion | None:
        """The augmentation of queries in PyLate; None without augmentation."""
        if self.do_query_expansion is False:
            return None
        return QueryExpansion(
            strategy="fixed",
            attend=bool(self.attend_to_expansion_tokens),
            length=self.query_length or 32,
        )


class _Mask(JsonModel, KnownKeys):
    """The tokens whose embeddings do not count."""

    skiplist_words: list[str] = Field(default_factory=list)
    skiplist_tasks: list[Literal["query", "document"]] = Field(default=["document"])
    keep_only_token_ids: None = None


def open_multi_vector(folder: ModelFolder, open_encoder: OpenEncoder) -> Source:
    """Open it.

    Source: sentence-transformers ``MultiVectorEncoder``, PyLate ``ColBERT``.
    """
    settings = folder.read(SETTINGS, _Settings)
    packages = (*PACKAGES, _PYLATE) if settings.pylate else PACKAGES
    first, *others = read_modules(folder, {}, packages)
    if first.kind != "Transformer":
        raise InputError(
            f"{folder.path / 'modules.json'}: begins with {first.kind}; expected a Transformer; "
            "give another model"
        )
    body = folder.inner(first.path)
    encoder, tokenizer = open_transformer(body, open_encoder, MultiVectorSettings)
    own = read_transformer_settings(body, MultiVectorSettings)
    prefixes = {"query": settings.query_prefix or "", "document": settings.document_prefix or ""}
    texts = {**prefixes, **{name: text or "" for name, text in (settings.prompts or {}).items()}}
    prompts = {
        name: prefixes.get(name, "") + text.removeprefix(prefixes.get(name, ""))
        for name, text in texts.items()
    }
    rest = [module for module in others if module.kind != _MASK]
    steps = module_recipe(folder, rest, unnamed="token_embeddings")
    if settings.pylate:
        return TokenVectors(
            prompts,
            (*steps, {"step": "normalize"}),
            settings.document_length,
            settings.query_length,
            settings.augmentation,
            [*string.punctuation] if settings.skiplist_words is None else settings.skiplist_words,
        ).source(folder, body, encoder, with_prefix_tokens(tokenizer, prefixes.values()))
    masks = [module for module in others if module.kind == _MASK]
    mask = folder.inner(masks[0].path).read("config.json", _Mask) if masks else _Mask()
    return TokenVectors(
        prompts,
        steps,
        own.document_length,
        own.query_length,
        own.query_expansion,
        mask.skiplist_words,
        mask.skiplist_tasks,
    ).source(folder, body, encoder, tokenizer)
