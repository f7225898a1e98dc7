"""A folder that model2vec saved, without what sentence-transformers needs of it."""

from __future__ import annotations

import numpy as np

from polybake.errors import InputError
from polybake.files.identifier import identifier
from polybake.files.model_folder import ModelFolder
from polybake.sources.lookup import open_static_embedding
from polybake.sources.source import Recipe, Source
from polybake.tokenization.tokenizer import made_tokenizer, read_tokenizer

#: model2vec's own, where config.json has none.
_MAX_LENGTH = 512


def is_model2vec(folder: ModelFolder) -> bool:
    """Whether config.json is one that model2vec wrote."""
    config = folder.settings("config.json")
    return config.get("model_type") == "model2vec" or "embedding_dtype" in config


def open_model2vec(folder: ModelFolder) -> Source:
    """Open a folder with config.json, model.safetensors and tokenizer.json.

    The unknown token takes no part, and the limit is model2vec's own. A folder that has
    modules.json, too, is opened as sentence-transformers does, which counts that token.

    Raises:
        InputError: a file is missing, damaged, or does not fit the others.

    Source: model2vec ``StaticModel.from_pretrained`` and ``encode``.
    """
    config = folder.settings("config.json")
    data = read_tokenizer(folder)
    limit = _limit(folder, config.get("max_length", _MAX_LENGTH))
    if limit is None:
        data["truncation"] = None
    else:
        _truncate(folder, data, limit)
    encoder, tokenizer = open_static_embedding(folder, data)
    return Source(
        encoder=encoder,
        tokenizer=tokenizer,
        folder=folder.path,
        identifier=identifier(folder.path),
        licence=folder.licence(),
        recipe=(
            *_without_unknown(folder, data),
            {"step": "pool", "mode": "mean"},
            *(({"step": "normalize"},) if config.get("normalize") else ()),
        ),
    )


def _limit(folder: ModelFolder, limit: object) -> int | None:
    if limit is not None and (not isinstance(limit, int) or limit < 1):
        raise InputError(
            f"{folder.path}: max_length = {limit!r} in config.json is no number of tokens; "
            "set it to a positive number or null"
        )
    return limit


def _truncate(folder: ModelFolder, data: dict[str, object], limit: int) -> None:
    """Cut at so many tokens, and before that at so many characters as they have by the median.

    Source: model2vec ``StaticModel._encode_dispatch``.
    """
    vocabulary = made_tokenizer(folder, data)[1].get_vocab(with_added_tokens=True)
    characters = limit * int(np.median([len(token) for token in vocabulary]))
    data["truncation"] = {
        "direction": "Right",
        "max_length": limit,
        "strategy": "LongestFirst",
        "stride": 0,
    }
    hundreds, rest = divmod(characters, 100)  # a regular expression counts to 100,000 at most
    whole = rf"(?m)\A(?:.{{100}}){{{hundreds}}}.{{{rest}}}\K.+"
    cut = {"type": "Replace", "pattern": {"Regex": whole}, "content": ""}
    normalizer = data.get("normalizer")
    data["normalizer"] = {"type": "Sequence", "normalizers": [cut, *filter(None, [normalizer])]}


def _without_unknown(folder: ModelFolder, data: dict[str, object]) -> Recipe:
    """Source: model2vec ``StaticModel.tokenize``."""
    model = data.get("model")
    described = model if isinstance(model, dict) else {}
    token, unknown = described.get("unk_token"), described.get("unk_id")
    if isinstance(token, str):
        unknown = made_tokenizer(folder, data)[1].token_to_id(token)
    return ({"step": "leave_out", "ids": [unknown]},) if isinstance(unknown, int) else ()
