"""A folder that model2vec saved, without the files of sentence-transformers."""

from collections.abc import Collection
from typing import Annotated, ClassVar

import numpy as np
from pydantic import Field

from polybake.baking.sources.source import Recipe, Source
from polybake.baking.sources.static_encoder import open_static_embedding
from polybake.baking.tokenizer.tokenizer_json import (
    Component,
    TokenizerJson,
    read_tokenizer,
)
from polybake.base.files.known_keys import KnownKeys
from polybake.base.files.model_folder import ModelFolder
from polybake.base.files.validation import JsonModel


class _Model2VecConfig(JsonModel, KnownKeys):
    """config.json; the default limit is model2vec's own."""

    # How the embeddings were made, which are as they are.
    passed_over: ClassVar[Collection[str]] = (
        *("architectures", "model_type", "tokenizer_name", "hidden_dim", "seq_length", "language"),
        *("apply_pca", "pca_dims", "apply_zipf", "zipf", "sif_coefficient", "token_remove_pattern"),
        *("embedding_dtype", "quantize_to", "vocabulary_quantization", "pooling", "n_tokens"),
        *("_name_or_path", "base_model_name", "license", "torch_dtype", "transformers_version"),
        *("tokenizer_class", "vocab_size", "hidden_size"),
    )

    max_length: Annotated[int, Field(gt=0)] | None = 512
    normalize: bool | None = None


def open_model2vec(folder: ModelFolder) -> Source:
    """Open a folder with config.json, model.safetensors and tokenizer.json.

    The unknown token takes no part, and the limit is model2vec's own. A folder that has
    modules.json, too, is opened as sentence-transformers does, which counts that token.

    Source: model2vec ``StaticModel.from_pretrained`` and ``encode``.
    """
    remedy = "set max_length to a positive number or null, and normalize to true or false"
    config = folder.read("config.json", _Model2VecConfig, remedy=remedy)
    data = _truncated(folder, read_tokenizer(folder), config.max_length)
    encoder, tokenizer = open_static_embedding(folder, data)
    return Source(
        encoder=encoder,
        tokenizer=tokenizer,
        folder=folder,
        recipe=(
            *_without_unknown(folder, data),
            {"step": "pool", "mode": "mean"},
            *(({"step": "normalize"},) if config.normalize else ()),
        ),
    )


def _truncated(folder: ModelFolder, data: TokenizerJson, limit: int | None) -> TokenizerJson:
    """Cut texts at ``limit`` tokens, after a cut at ``limit`` times the median token length.

    Source: model2vec ``StaticModel._encode_dispatch``.
    """
    if limit is None:
        return data.model_copy(update={"truncation": None})
    vocabulary = data.make(folder)[1].get_vocab(with_added_tokens=True)
    characters = limit * int(np.median([len(token) for token in vocabulary]))
    hundreds, rest = divmod(characters, 100)  # a regular expression counts to 100,000 at most
    whole = rf"(?m)\A(?:.{{100}}){{{hundreds}}}.{{{rest}}}\K.+"
    cut = Component.model_validate({"type": "Replace", "pattern": {"Regex": whole}, "content": ""})
    normalizer = Component(type="Sequence", normalizers=[cut, *data.parts("normalizer")])
    return data.cut_at(limit).model_copy(update={"normalizer": normalizer})


def _without_unknown(folder: ModelFolder, data: TokenizerJson) -> Recipe:
    """Source: model2vec ``StaticModel.tokenize``."""
    token, unknown = data.model.get("unk_token"), data.model.get("unk_id")
    if token is not None:
        unknown = data.make(folder)[1].token_to_id(token)
    return () if unknown is None else ({"step": "leave_out", "ids": [unknown]},)
