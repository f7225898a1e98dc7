"""A folder of sentence-transformers' MultiVectorEncoder, or of PyLate's ColBERT."""

import string
from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field

from polybake.errors import InputError
from polybake.files.model_folder import ModelFolder
from polybake.files.validation import JsonModel
from polybake.sources.built_encoder import BuiltEncoder
from polybake.sources.expanded_encoder import ExpandedEncoder
from polybake.sources.expansion import Expansion
from polybake.sources.sentence_transformers.module import PACKAGES, Module
from polybake.sources.sentence_transformers.module_recipe import module_recipe
from polybake.sources.sentence_transformers.modules_json import read_modules
from polybake.sources.sentence_transformers.transformer import (
    MultiVectorSettings,
    QueryExpansion,
    open_transformer,
    read_transformer_settings,
)
from polybake.sources.source import Encoder, OpenEncoder, Recipe, Source
from polybake.tokenization.prefix_tokens import with_prefix_tokens
from polybake.tokenization.tokenizer import BakedTokenizer
from polybake.tokenization.tokenizer_config import TokenizerConfig

_SETTINGS = "config_sentence_transformers.json"
_MASK = "MultiVectorMask"
#: Its Dense is sentence-transformers', of tokens.
_PYLATE = "pylate.models."
#: In the order of their numbers; without a prompt a text is a document.
ROUTES = ("document", "query")


class _Kind(JsonModel):
    """Which class of which library saved a folder; older versions of PyLate only wrote prefixes."""

    model_type: str | None = None
    query_prefix: str | None = None

    @property
    def of_pylate(self) -> bool:
        """Whether PyLate saved it."""
        plain = self.model_type in (None, "SentenceTransformer")
        return self.model_type == "ColBERT" or (plain and "query_prefix" in self.model_fields_set)


class _Settings(_Kind):
    """The settings of a whole model; those of PyLate stand for modules that it does not list."""

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
    def expansion(self) -> QueryExpansion | None:
        """What PyLate does to queries."""
        if self.do_query_expansion is False:
            return None
        return QueryExpansion(
            strategy="fixed",
            attend=bool(self.attend_to_expansion_tokens),
            length=self.query_length or 32,
        )


class _Mask(JsonModel, extra="forbid"):
    """Which tokens' embeddings do not count."""

    skiplist_words: list[str] = Field(default_factory=list)
    skiplist_tasks: list[Literal["query", "document"]] = Field(default=["document"])
    keep_only_token_ids: None = None


def is_multi_vector(folder: ModelFolder) -> bool:
    """Whether a folder gives a vector for each token of a text."""
    kind = folder.read(_SETTINGS, _Kind)
    return kind.of_pylate or kind.model_type == "MultiVectorEncoder"


def open_multi_vector(folder: ModelFolder, open_encoder: OpenEncoder) -> Source:
    """Open it.

    Raises:
        InputError: a module or a setting is not baked, or something is missing.

    Source: sentence-transformers ``MultiVectorEncoder``, PyLate ``ColBERT``.
    """
    settings = folder.read(_SETTINGS, _Settings)
    packages = (*PACKAGES, _PYLATE) if settings.of_pylate else PACKAGES
    first, *others = read_modules(folder, {}, packages)
    if first.kind != "Transformer":
        raise InputError(
            f"{folder.path / 'modules.json'}: begins with {first.kind}; expected a Transformer"
        )
    body = folder.inner(first.path)
    encoder, tokenizer = open_transformer(body, open_encoder, MultiVectorSettings)
    encoder = built(folder, encoder)
    own = read_transformer_settings(body, MultiVectorSettings)
    document_length, query_length, expansion = (
        own.document_length,
        own.query_length,
        own.query_expansion,
    )
    prefixes = {"query": settings.query_prefix or "", "document": settings.document_prefix or ""}
    if settings.of_pylate:
        document_length = settings.document_length or document_length
        query_length, expansion = settings.query_length, settings.expansion
        tokenizer = with_prefix_tokens(tokenizer, prefixes.values())
    prompts = {**dict.fromkeys(ROUTES, ""), **(settings.prompts or {})}
    texts = {
        name: prefixes.get(name, "") + (text or "").removeprefix(prefixes.get(name, ""))
        for name, text in prompts.items()
    }
    made = expansion_of(body, tokenizer, document_length, query_length, expansion)
    return Source(
        encoder=ExpandedEncoder(encoder.name, encoder, made, ROUTES),
        tokenizer=tokenizer,
        folder=folder,
        recipe=_recipe(folder, others, tokenizer, settings),
        prompts=texts,
        similarity="maxsim",
        saved_as="MultiVectorEncoder",
    )


def built(folder: ModelFolder, encoder: Encoder) -> BuiltEncoder:
    """The encoder, where rows can be filled up before it.

    Raises:
        InputError: it is a graph that takes rows as they are.
    """
    if isinstance(encoder, BuiltEncoder):
        return encoder
    raise InputError(
        f"{folder.path}: queries are filled up before the encoder, and an exported one takes rows "
        "as they are; leave the encoder option out"
    )


def expansion_of(
    body: ModelFolder,
    tokenizer: BakedTokenizer,
    document_length: int | None,
    query_length: int | None,
    expansion: QueryExpansion | None,
) -> Expansion:
    """What becomes of documents and of queries before the encoder.

    Raises:
        InputError: queries are filled up with no token, or beyond what the model takes.
    """
    longest = tokenizer.max_length
    query, width, fill = query_length or longest, 0, tokenizer.pad_id
    if expansion is not None:
        width, fill = expansion.length, _fill(body, tokenizer, expansion)
        query = width if expansion.strategy == "fixed" else max(query, width)
        if width > longest:
            raise InputError(
                f"{body.path}: queries are filled up to {width} tokens, and the model takes "
                f"{longest}; lower the length of query_expansion"
            )
    return Expansion(
        limits=(min(document_length or longest, longest), min(query, longest)),
        widths=(0, width),
        fill=fill,
        attend=expansion is not None and expansion.attend,
        behind=tokenizer.special_tokens[1],
    )


def _fill(body: ModelFolder, tokenizer: BakedTokenizer, expansion: QueryExpansion) -> int:
    """The id that fills queries up: the mask's, else that of the end of a text."""
    config = TokenizerConfig.of(body)
    name = expansion.token or config.token("mask_token") or config.token("eos_token")
    found = None if name is None else tokenizer.id_of(name)
    if found is None:
        raise InputError(
            f"{body.path}: queries are filled up with {name or 'the mask token'!r}, which is no "
            "token of the tokenizer; name one as the token of query_expansion"
        )
    if tokenizer.pad_side == "left":
        raise InputError(
            f"{body.path}: padding_side is left, and queries are filled up on the right; set it to "
            "right in tokenizer_config.json"
        )
    return found


def _recipe(
    folder: ModelFolder, modules: list[Module], tokenizer: BakedTokenizer, settings: _Settings
) -> Recipe:
    """The modules as steps, with those that PyLate does not list."""
    masks = [module for module in modules if module.kind == _MASK]
    rest = [module for module in modules if module.kind != _MASK]
    mask = _Mask()
    if masks:
        mask = folder.inner(masks[0].path).read("config.json", _Mask)
    elif settings.of_pylate:
        words = settings.skiplist_words
        mask = _Mask(skiplist_words=[*string.punctuation] if words is None else words)
    normalize: Recipe = ({"step": "normalize"},) if settings.of_pylate else ()
    listed = module_recipe(folder, rest, unnamed="token_embeddings")
    return row_recipe(tokenizer, mask.skiplist_words, mask.skiplist_tasks, (*listed, *normalize))


def row_recipe(
    tokenizer: BakedTokenizer, skipped: Sequence[str], routes: Sequence[str], steps: Recipe
) -> Recipe:
    """What each route leaves out, then the steps of every token, then the rows of all texts.

    Args:
        tokenizer: Knows the ids of ``skipped``; words without one are passed over.
        skipped: Tokens that do not count.
        routes: Where they do not.
        steps: From token embeddings to rows.

    Source: sentence-transformers ``MultiVectorMask``.
    """
    found = {tokenizer.id_of(word) for word in skipped}
    ids = sorted(one for one in found if one is not None)
    left_out: Recipe = ({"step": "leave_out", "ids": ids},) if ids else ()
    chosen = {name: left_out if name in routes else () for name in ROUTES}
    return (
        {"step": "route", "default": "document", "routes": chosen},
        *steps,
        {"step": "unpad"},
    )
