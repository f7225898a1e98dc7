"""A sentence-transformers folder: modules.json lists the encoder and the steps after it.

Module types are matched by their last name against an allow-list; nothing they name is imported.
"""

from __future__ import annotations

from typing import get_args

from polybake.errors import InputError
from polybake.manifest import Similarity
from polybake.modelfolder import ModelFolder
from polybake.sources.checkpoint import open_checkpoint
from polybake.sources.identity import identifier
from polybake.sources.source import Recipe, Source
from polybake.tokenizer import bake_tokenizer

#: Settings of the Transformer module, by every name that versions since 1.0 gave the file.
_TRANSFORMER_SETTINGS = (
    "sentence_bert_config.json",
    "sentence_roberta_config.json",
    "sentence_distilbert_config.json",
    "sentence_camembert_config.json",
    "sentence_albert_config.json",
    "sentence_xlm-roberta_config.json",
    "sentence_xlnet_config.json",
)

#: The old schema of Pooling, in the order in which several are concatenated.
_POOLING_BOOLEANS = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len_tokens",
    "pooling_mode_weightedmean_tokens": "weightedmean",
    "pooling_mode_lasttoken": "lasttoken",
}


def open_sentence_transformers(folder: ModelFolder) -> Source:
    """Open a folder with modules.json.

    Raises:
        InputError: a module or setting is unknown or not supported, or something is missing.
    """
    modules = _modules(folder)
    kind, path = modules[0]
    if kind != "Transformer":
        raise InputError(
            f"{folder.path / 'modules.json'}: begins with the module {kind}; "
            "expected Transformer"
        )
    body = folder.inner(path)
    return Source(
        encoder=open_checkpoint(body),
        tokenizer=sentence_transformers_tokenizer(body),
        folder=folder.path,
        identifier=identifier(folder.path),
        licence=folder.licence(),
        **sentence_transformers_settings(folder),
    )
