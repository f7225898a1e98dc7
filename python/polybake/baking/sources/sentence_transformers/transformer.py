"""A Transformer module: its sentence_bert_config.json, its tokenizer and its encoder.

Source: sentence-transformers ``Transformer.load_config`` and ``Transformer.__init__``.
"""

from typing import TypeVar

from polybake.baking.sources.sentence_transformers import OWN_STEPS
from polybake.baking.sources.sentence_transformers.transformer_settings import (
    BaseSettings,
    TransformerSettings,
)
from polybake.baking.sources.source import Encoder, OpenEncoder
from polybake.baking.tokenizer.folder_tokenizer import open_tokenizer
from polybake.base.files.model_folder import ModelFolder
from polybake.base.files.validation import JsonModel
from polybake.runtime.tokenizer import BakedTokenizer

#: The file's name, by every version since 1.0.
_FILES = tuple(
    f"sentence_{name}_config.json"
    for name in ("bert", "roberta", "distilbert", "camembert", "albert", "xlm-roberta", "xlnet")
)

Settings = TypeVar("Settings", bound=BaseSettings)


class _Runs(JsonModel):
    """The part of a model that a Transformer module runs, and how inputs reach it."""

    transformer_task: str = "feature-extraction"
    modality_config: object = None


def read_transformer_settings(body: ModelFolder, kind: type[Settings]) -> Settings:
    """Read the settings in a Transformer module's folder: of the first file that has any."""
    candidates = (body.read(name, kind, remedy=OWN_STEPS) for name in _FILES)
    return next((settings for settings in candidates if settings.model_fields_set), kind())


def is_masked_lm(body: ModelFolder) -> bool:
    """Whether a Transformer module runs the head of its masked language model, too."""
    return any(body.read(name, _Runs).transformer_task == "fill-mask" for name in _FILES)


def takes_messages(body: ModelFolder) -> bool:
    """Whether a Transformer module renders each text with a chat template."""
    configs = (body.read(name, _Runs).modality_config for name in _FILES)
    return any(isinstance(config, dict) and config.get("message") is not None for config in configs)


def open_transformer(
    body: ModelFolder,
    open_encoder: OpenEncoder,
    kind: type[BaseSettings] = TransformerSettings,
) -> tuple[Encoder, BakedTokenizer]:
    """Open the folder of a Transformer module."""
    settings = read_transformer_settings(body, kind)
    limit, lowercase = settings.max_seq_length, settings.do_lower_case is True
    tokenizer = open_tokenizer(body, max_seq_length=limit, lowercase=lowercase)
    return open_encoder(body, tokenizer), tokenizer
