"""An encoder of embeddings to which each text is the message of a user, in a chat template.

What the template writes before a text is a prompt, and what it writes behind are special tokens.

Source: sentence-transformers ``Transformer.preprocess``.
"""

from collections.abc import Mapping

from polybake.baking.sources.sentence_transformers.message_template import (
    chat_template,
    message_template,
)
from polybake.baking.sources.sentence_transformers.transformer import (
    open_transformer,
    read_transformer_settings,
)
from polybake.baking.sources.sentence_transformers.transformer_settings import MessageSettings
from polybake.baking.sources.source import Encoder, OpenEncoder
from polybake.baking.tokenizer.prompt_tokens import with_suffix
from polybake.base.files.model_folder import ModelFolder
from polybake.errors import InputError
from polybake.runtime.tokenizer import BakedTokenizer

#: The prompt of calls that name none: a message without a system's before it.
_PLAIN = "message"
#: What ``encode``, ``encode_query`` and ``encode_document`` set for a template that reads it.
_TASKS: tuple[Mapping[str, object], ...] = ({}, {"task": "query"}, {"task": "document"})


def open_messages(
    body: ModelFolder, open_encoder: OpenEncoder, prompts: Mapping[str, str], default: str | None
) -> tuple[Encoder, BakedTokenizer, dict[str, str], str]:
    """Open the folder of a Transformer module whose texts are messages.

    Returns:
        The encoder, its tokenizer, what stands before a text by prompt, and the default prompt.
    """
    encoder, tokenizer = open_transformer(body, open_encoder, MessageSettings)
    systems = {"query": "", "document": "", **prompts}  # as the library adds them
    if default is None:
        default = _PLAIN
        if systems.setdefault(_PLAIN, ""):
            raise InputError(
                f"{body.path}: has a prompt {_PLAIN!r}, and polybake gives this name to the prompt "
                "of calls without one; rename it, or make it default_prompt_name"
            )
    around = {system: _around(body, system) for system in {*systems.values()}}
    prefixes = {name: around[system][0] for name, system in systems.items()}
    suffix, *others = sorted({behind for _, behind in around.values()})
    if others:
        raise InputError(
            f"{body.path}: its chat template writes {suffix[:40]!r} behind a text with one prompt, "
            f"and {others[0][:40]!r} with another; give all prompts, query and document, too, the "
            "same text in config_sentence_transformers.json, and one of them as default_prompt_name"
        )
    return encoder, with_suffix(tokenizer, {*prefixes.values()}, suffix), prefixes, default


def _around(body: ModelFolder, system: str) -> tuple[str, ...]:
    """Return what the template writes before a text and behind it."""
    settings = read_transformer_settings(body, MessageSettings)
    tasks = _TASKS if "task" in (chat_template(body) or "") else _TASKS[:1]
    message = settings.modality_config.message.format
    parts, *others = {
        message_template(body, ("user",), system or None, message, {**task, **settings.variables})
        for task in tasks
    }
    if others:
        raise InputError(
            f"{body.path}: its chat template reads task, which only encode_query and "
            "encode_document set; set processing_kwargs.chat_template.task in "
            "sentence_bert_config.json to query or document, and bake a model of each"
        )
    return parts
