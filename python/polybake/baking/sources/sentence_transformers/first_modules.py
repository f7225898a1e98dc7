"""The modules of sentence-transformers that a model begins with.

A new module needs an entry here, and a function that opens its folder.
"""

from collections.abc import Callable
from dataclasses import dataclass

from polybake.baking.sources.checkpoint import Checkpoint
from polybake.baking.sources.sentence_transformers.sparse_static_embedding import (
    open_sparse_static_embedding,
    sparse_static_embedding_beside,
)
from polybake.baking.sources.sentence_transformers.transformer import is_masked_lm, open_transformer
from polybake.baking.sources.sentence_transformers.transformer_settings import (
    ClipSettings,
    MaskedLMSettings,
)
from polybake.baking.sources.source import MEAN, Encoder, OpenEncoder, Recipe
from polybake.baking.sources.static_encoder import (
    open_static_embedding,
    static_embedding_beside,
)
from polybake.baking.tokenizer.tokenizer_json import read_tokenizer
from polybake.base.files.model_folder import ModelFolder
from polybake.errors import InputError
from polybake.runtime.tokenizer import BakedTokenizer


@dataclass(frozen=True)
class FirstModule:
    """A module that a model begins with.

    Attributes:
        open: Finds the encoder and its tokenizer in the module's folder.
        recipe: Returns the steps that the module itself takes after the encoder, by its folder.
        pooled: Whether the module gives one vector per text.
        bare: Whether special tokens beside a text must be left out by a step.
        beside: Opens the folder of a table beside an encoder, whose tokenizer adds special
            tokens that do not count here.
    """

    open: Callable[[ModelFolder, OpenEncoder], tuple[Encoder, BakedTokenizer]]
    recipe: Callable[[ModelFolder], Recipe] = lambda _: ()
    pooled: bool = False
    bare: bool = False
    beside: Callable[[ModelFolder, BakedTokenizer], tuple[Encoder, BakedTokenizer]] | None = None


#: Runs the head that a checkpoint has behind its encoder.
RUN_HEAD: Recipe = ({"step": "head"},)


def _open_masked_lm(
    folder: ModelFolder, open_encoder: OpenEncoder
) -> tuple[Encoder, BakedTokenizer]:
    return open_transformer(folder, open_encoder, MaskedLMSettings)


def _open_clip(folder: ModelFolder, open_encoder: OpenEncoder) -> tuple[Encoder, BakedTokenizer]:
    encoder, tokenizer = open_transformer(folder, open_encoder, ClipSettings)
    if isinstance(encoder, Checkpoint) and not encoder.pooled:
        raise InputError(
            f"{folder.path}: is {encoder.name}, expected clip where modules.json says "
            "CLIPModel; download the model again"
        )
    return encoder, tokenizer


FIRST = {
    "Transformer": FirstModule(
        lambda folder, open_encoder: (
            _open_masked_lm if is_masked_lm(folder) else open_transformer
        )(folder, open_encoder),
        recipe=lambda folder: RUN_HEAD if is_masked_lm(folder) else (),
    ),
    "MLMTransformer": FirstModule(
        lambda folder, open_encoder: _open_masked_lm(folder, open_encoder),
        recipe=lambda _: RUN_HEAD,
    ),
    "CLIPModel": FirstModule(_open_clip, pooled=True),
    "StaticEmbedding": FirstModule(
        lambda folder, _: open_static_embedding(folder, read_tokenizer(folder)),
        recipe=lambda _: MEAN,
        pooled=True,
        bare=True,
        beside=static_embedding_beside,
    ),
    "SparseStaticEmbedding": FirstModule(
        lambda folder, _: open_sparse_static_embedding(folder),
        pooled=True,
        beside=sparse_static_embedding_beside,
    ),
}
