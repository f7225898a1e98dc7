"""The modules of sentence-transformers that a model begins with.

A new one is an entry here, and a function that opens its folder.
"""

from collections.abc import Callable
from dataclasses import dataclass

from polybake.files.model_folder import ModelFolder
from polybake.sources.sentence_transformers.transformer import open_transformer
from polybake.sources.sentence_transformers.word_modules import (
    open_bag_of_words,
    open_word_embeddings,
)
from polybake.sources.source import Encoder, OpenEncoder, Recipe
from polybake.sources.static_encoder import open_static_embedding
from polybake.tokenization.tokenizer import BakedTokenizer
from polybake.tokenization.tokenizer_json import read_tokenizer


@dataclass(frozen=True)
class FirstModule:
    """A module that a model begins with.

    Attributes:
        open: Finds the encoder and its tokenizer in the module's folder.
        recipe: The steps that the module itself takes after that.
        pooled: Whether one vector a text comes out of it.
    """

    open: Callable[[ModelFolder, OpenEncoder], tuple[Encoder, BakedTokenizer]]
    recipe: Recipe = ()
    pooled: bool = False


FIRST = {
    "Transformer": FirstModule(open_transformer),
    "StaticEmbedding": FirstModule(
        lambda folder, _: open_static_embedding(folder, read_tokenizer(folder)),
        recipe=({"step": "pool", "mode": "mean"},),
        pooled=True,
    ),
    "WordEmbeddings": FirstModule(lambda folder, _: open_word_embeddings(folder)),
    "BoW": FirstModule(lambda folder, _: open_bag_of_words(folder), pooled=True),
}
