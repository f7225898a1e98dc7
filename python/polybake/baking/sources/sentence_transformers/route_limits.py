"""Limits by route: the tokenizer cuts texts at the largest, and the graph at that of their route.

Source: sentence-transformers ``Transformer.preprocess``, ``query_length`` and ``document_length``.
"""

from collections.abc import Mapping

from polybake.baking.sources.augmented_encoder import AugmentedEncoder
from polybake.baking.sources.built_encoder import BuiltEncoder
from polybake.baking.sources.query_augmentation import QueryAugmentation
from polybake.baking.sources.sentence_transformers.modules_json import ALIASES
from polybake.baking.sources.sentence_transformers.transformer import (
    is_masked_lm,
    read_transformer_settings,
)
from polybake.baking.sources.sentence_transformers.transformer_settings import (
    MaskedLMSettings,
    TransformerSettings,
)
from polybake.baking.sources.source import Encoder, Recipe
from polybake.baking.tokenizer.folder_tokenizer import open_tokenizer
from polybake.base.files.model_folder import ModelFolder
from polybake.errors import InputError
from polybake.runtime.tokenizer import BakedTokenizer

NOT_IN_ROUTERS = (
    "has query_length or document_length, and the model a Router with routes of its own; set "
    "max_seq_length in its sentence_bert_config.json in their place"
)
#: The route of a text that is neither a query nor a document.
_TEXT = "text"


def read_limits(
    body: ModelFolder, tokenizer: BakedTokenizer
) -> tuple[dict[str, int] | None, BakedTokenizer]:
    """Read the limits of texts, queries and documents in the folder of a Transformer.

    Returns:
        The most tokens by route, or None if they are all that of the tokenizer; and the tokenizer
        that cuts at the largest.
    """
    kind = MaskedLMSettings if is_masked_lm(body) else TransformerSettings
    settings = read_transformer_settings(body, kind)
    usual = tokenizer.max_length
    limits = {
        _TEXT: usual,
        "query": settings.query_length or usual,
        "document": settings.document_length or usual,
    }
    longest = max(limits.values())
    if longest > usual:
        lowercase = settings.do_lower_case is True
        tokenizer = open_tokenizer(body, max_seq_length=longest, lowercase=lowercase)
    if longest > tokenizer.max_length:
        raise InputError(
            f"{body.path}: query_length or document_length is {longest}, and the model takes "
            f"{tokenizer.max_length} tokens; lower it in sentence_bert_config.json"
        )
    return (limits if len({*limits.values()}) > 1 else None), tokenizer


def route_of_limits(
    limits: Mapping[str, int], prompts: Mapping[str, str]
) -> tuple[Recipe, dict[str, str]]:
    """Return the step that chooses a limit by the prompt, and the prompts that there are then."""
    known = {"query": "", "document": "", **prompts}
    step: dict[str, object] = {
        "step": "route",
        "default": _TEXT,
        "routes": dict.fromkeys(limits, ()),
    }
    if others := {name: task for name, task in ALIASES.items() if name in known}:
        step["prompts"] = others
    return (step,), known


def cut_by_route(
    folder: ModelFolder, encoder: Encoder, tokenizer: BakedTokenizer, limits: Mapping[str, int]
) -> AugmentedEncoder:
    """Return the encoder that sees each text cut at its route's limit, special tokens included.

    The tokenizer cuts at the largest of the limits.
    """
    if not isinstance(encoder, BuiltEncoder):
        raise InputError(
            f"{folder.path}: texts of the routes {', '.join(limits)} are cut at limits of their "
            "own before the encoder, and an exported one takes rows as they are; leave the encoder "
            "option out"
        )
    augmentation = QueryAugmentation(
        limits=tuple(limits.values()),
        widths=(0,) * len(limits),
        fill=tokenizer.pad_id,
        attend=False,
        behind=special_tokens_behind(folder, tokenizer),
    )
    return AugmentedEncoder(encoder.name, encoder, augmentation, tuple(limits))


def special_tokens_behind(folder: ModelFolder, tokenizer: BakedTokenizer) -> int:
    """Return how many special tokens stay behind a text when a graph cuts its end."""
    if tokenizer.cut_side == "left":
        raise InputError(
            f"{folder.path}: truncation_side is left, and queries and documents with limits of "
            "their own are cut on the right; set it to right in tokenizer_config.json"
        )
    return tokenizer.special_tokens[1]
