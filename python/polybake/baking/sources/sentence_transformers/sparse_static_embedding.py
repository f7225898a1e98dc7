"""A SparseStaticEmbedding: a weight for each token of the vocabulary, without an encoder."""

import numpy as np
from tokenizers import Tokenizer

from polybake.baking.encoders.bag_of_words import BagOfWords
from polybake.baking.sources.module_weights import exact_tensors
from polybake.baking.sources.static_encoder import StaticEncoder
from polybake.baking.tokenizer.folder_tokenizer import open_tokenizer
from polybake.baking.tokenizer.tokenizer_config import TokenizerConfig
from polybake.base.files.known_keys import KnownKeys
from polybake.base.files.model_folder import ModelFolder
from polybake.base.files.validation import JsonModel
from polybake.base.modelfile.manifest import NO_LIMIT
from polybake.errors import InputError
from polybake.runtime.tokenizer import BakedTokenizer

_NAME = "sparse_static_embedding"


class _Settings(JsonModel, KnownKeys):
    """The keys of config.json; if it names a file of weights, the library did not save it."""

    frozen: bool = False
    path: None = None


def open_sparse_static_embedding(folder: ModelFolder) -> tuple[StaticEncoder, BakedTokenizer]:
    """Open its folder, whose tokenizer adds no special tokens.

    Source: sentence-transformers ``SparseStaticEmbedding``.
    """
    limit = _limit(folder)
    baked = open_tokenizer(folder, max_seq_length=limit).cut_at(limit)
    return _encoder(folder, baked, (0, 0)), baked.with_parts(post_processor=None)


def sparse_static_embedding_beside(
    folder: ModelFolder, other: BakedTokenizer
) -> tuple[StaticEncoder, BakedTokenizer]:
    """Open the module as a route beside an encoder, whose special tokens do not count here."""
    baked = open_tokenizer(folder, max_seq_length=other.max_length)
    special = baked.special_tokens
    limit = min(_limit(folder) + sum(special), NO_LIMIT)
    return _encoder(folder, baked, special), baked.cut_at(limit)


def _limit(folder: ModelFolder) -> int:
    """Return the most tokens of a text, without special tokens."""
    limit = TokenizerConfig.of(folder).limit
    # transformers writes 1e30 for "no limit".
    return NO_LIMIT if limit is None or limit > NO_LIMIT else limit


def _encoder(
    folder: ModelFolder, tokenizer: BakedTokenizer, uncounted: tuple[int, int]
) -> StaticEncoder:
    folder.read("config.json", _Settings)
    weights = exact_tensors(folder, {"weights": "weight"})["weights"]
    highest = max(Tokenizer.from_str(tokenizer.json).get_vocab().values(), default=-1)
    if weights.ndim != 1 or len(weights) <= highest or not np.isfinite(weights).all():
        raise InputError(
            f"{folder.path / 'model.safetensors'}: weight is {list(weights.shape)}, expected a "
            f"finite number for each of {highest + 1} tokens; save the module again"
        )
    return StaticEncoder(_NAME, lambda: BagOfWords(weights, uncounted))
