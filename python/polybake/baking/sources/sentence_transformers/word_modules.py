"""Encoders of whole words: sentence-transformers' WordEmbeddings and BoW."""

from collections.abc import Collection
from typing import Annotated, ClassVar

from pydantic import Field

from polybake.baking.encoders.bag_of_words import BagOfWords
from polybake.baking.encoders.static_embedding import StaticEmbedding
from polybake.baking.sources.module_weights import weight_file
from polybake.baking.sources.sentence_transformers.saved_token_modules import SavedWordWeights
from polybake.baking.sources.static_encoder import StaticEncoder
from polybake.base.files.known_keys import KnownKeys
from polybake.base.files.model_folder import ModelFolder
from polybake.base.files.validation import JsonModel
from polybake.errors import InputError
from polybake.runtime.tokenization.tokenizer import BakedTokenizer
from polybake.runtime.tokenization.word_tokenizer import Words, bake_word_tokenizer


class _WordEmbeddings(JsonModel, KnownKeys):
    """wordembedding_config.json."""

    passed_over: ClassVar[Collection[str]] = ("update_embeddings",)  # in training

    tokenizer_class: str = Field(pattern=r"^sentence_transformers\..*\.WhitespaceTokenizer$")
    max_seq_length: Annotated[int, Field(gt=0)] = 1_000_000


class _WhitespaceTokenizer(JsonModel, KnownKeys):
    """whitespacetokenizer_config.json."""

    vocab: list[str]
    stop_words: list[str]
    do_lower_case: bool = False


class _BagOfWords(SavedWordWeights):
    """config.json of a BoW."""

    cumulative_term_frequency: bool = True


def open_word_embeddings(folder: ModelFolder) -> tuple[StaticEncoder, BakedTokenizer]:
    """Open a folder of sentence-transformers' WordEmbeddings.

    Raises:
        InputError: a file is missing or damaged, or the tokenizer is another than
            WhitespaceTokenizer.
    """
    remedy = "correct it, or save it with a WhitespaceTokenizer"
    config = folder.read("wordembedding_config.json", _WordEmbeddings, needed=True, remedy=remedy)
    settings = folder.read("whitespacetokenizer_config.json", _WhitespaceTokenizer, needed=True)
    words = Words(
        tuple(settings.vocab), frozenset(settings.stop_words), lowercase=settings.do_lower_case
    )
    file = weight_file(folder)
    rows = StaticEmbedding.load(file).ids
    if len(words.vocabulary) > rows:
        raise InputError(
            f"{folder.path}: the vocabulary has {len(words.vocabulary)} words and the embedding "
            f"{rows} rows; download it again"
        )
    tokenizer = bake_word_tokenizer(folder, words, max_length=config.max_seq_length)
    return StaticEncoder("word_embeddings", lambda: StaticEmbedding.load(file)), tokenizer


def open_bag_of_words(folder: ModelFolder) -> tuple[StaticEncoder, BakedTokenizer]:
    """Open a folder of sentence-transformers' BoW.

    Raises:
        InputError: config.json is missing or damaged.
    """
    config = folder.read("config.json", _BagOfWords, needed=True)
    words = list(dict.fromkeys(config.vocab))
    weights, cumulative = config.weights_of(words), config.cumulative_term_frequency
    tokenizer = bake_word_tokenizer(folder, Words(tuple(words)))
    return StaticEncoder("bow", lambda: BagOfWords(weights, cumulative=cumulative)), tokenizer
