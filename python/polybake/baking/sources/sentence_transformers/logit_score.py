"""A CrossEncoder of a causal language model, which answers yes or no about a pair.

Source: sentence-transformers ``CrossEncoder`` with ``LogitScore``.
"""

from collections.abc import Collection
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, Field, ValidationInfo, field_validator

from polybake.baking.sources.heads.causal_lm import causal_lm
from polybake.baking.sources.heads.sequence_classification import HeadConfig
from polybake.baking.sources.kind import SETTINGS
from polybake.baking.sources.sentence_transformers.message_template import (
    Format,
    chat_template,
    message_template,
)
from polybake.baking.sources.sentence_transformers.module import Module
from polybake.baking.sources.sentence_transformers.transformer import (
    open_transformer,
    read_transformer_settings,
)
from polybake.baking.sources.sentence_transformers.transformer_settings import CausalLMSettings
from polybake.baking.sources.source import OpenEncoder, Source
from polybake.baking.sources.torch_classes import activation_of
from polybake.baking.tokenizer.pair_prompt import DOCUMENT, QUERY, PairPrompt
from polybake.base.files.known_keys import KnownKeys
from polybake.base.files.model_folder import ModelFolder
from polybake.base.files.validation import JsonModel

_Id = Annotated[int, Field(ge=0)]


class _Score(JsonModel, KnownKeys):
    """The module's config.json: the tokens whose logits are read."""

    true_token_id: _Id
    false_token_id: _Id | None = None
    module_input_name: Literal["causal_logits"] = "causal_logits"


class _Settings(JsonModel, KnownKeys):
    """The settings of the whole model; a prompt is the text of the system's message."""

    passed_over: ClassVar[Collection[str]] = ("__version__", "model_type", "keep_in_fp32_modules")

    prompts: dict[str, str] = Field(default_factory=dict)
    default_prompt_name: str | None = None
    activation_fn: Annotated[str, AfterValidator(activation_of)] | None = None

    @field_validator("default_prompt_name")
    @classmethod
    def _is_a_prompt(cls, name: str | None, info: ValidationInfo) -> str | None:
        if name is not None and name not in info.data.get("prompts", {}):
            raise ValueError("Input should be null or the name of a prompt")
        return name


def open_logit_score(
    folder: ModelFolder, transformer: Module, score: Module, open_encoder: OpenEncoder
) -> Source:
    """Open a folder whose language model's logits are scores."""
    body = folder.inner(transformer.path)
    encoder, tokenizer = open_transformer(body, open_encoder, CausalLMSettings)
    settings = folder.read(SETTINGS, _Settings)
    tokens = folder.inner(score.path).read("config.json", _Score, needed=True)
    relevance = settings.activation_fn or body.read("config.json", HeadConfig).relevance
    return Source(
        encoder=encoder,
        tokenizer=tokenizer,
        folder=body,
        head=causal_lm(body, tokens.true_token_id, tokens.false_token_id, relevance),
        pair_prompt=_prompt(body, settings.prompts.get(settings.default_prompt_name or "") or None),
    )


def _prompt(body: ModelFolder, system: str | None) -> PairPrompt | None:
    """Return the prompt that the chat template makes; None if pairs are joined without one."""
    settings = read_transformer_settings(body, CausalLMSettings)
    modality = settings.modality_config
    message: Format | None = "auto" if modality is None and chat_template(body) else None
    if modality is not None and modality.message is not None:
        message = modality.message.format
    if message is None:
        return None
    before, between, behind = message_template(
        body, ("query", "document"), system, message, settings.variables
    )
    return PairPrompt(((before, QUERY, between, DOCUMENT, behind),))
