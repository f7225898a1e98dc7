"""An encoder without context: each token's embedding depends only on the token."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from onnxscript import GraphBuilder, ir, nn

from polybake.baking.encoders.static_embedding import StaticEmbedding
from polybake.baking.layers.network import check_every_parameter_is_placed
from polybake.baking.sources.built_encoder import BuiltEncoder
from polybake.baking.sources.module_weights import weight_file
from polybake.baking.tokenizer.tokenizer_json import TokenizerJson, read_tokenizer
from polybake.base.files.model_folder import ModelFolder
from polybake.base.modelfile.manifest import NO_LIMIT, Feed
from polybake.errors import InputError
from polybake.runtime.tokenizer import BakedTokenizer

#: The id of padding: any row of the table will do, as padding is masked.
_PAD_ID = 0


@dataclass(frozen=True)
class StaticEncoder(BuiltEncoder):
    """An encoder whose module is created with its weights.

    Attributes:
        name: The name in the manifest.
        make: Creates a new module.
    """

    name: str
    make: Callable[[], nn.Module]

    def build(
        self, builder: GraphBuilder, values: Mapping[Feed, ir.Value]
    ) -> tuple[ir.Value, Sequence[ir.Value]]:
        """Add the encoder to a graph that has its inputs; it has no hidden states."""
        encoder = self.make()
        embeddings = encoder(builder.op, *(values[feed] for feed in self.feeds))
        check_every_parameter_is_placed(encoder, builder.graph)
        return embeddings, ()


def open_static_embedding(
    folder: ModelFolder, data: TokenizerJson
) -> tuple[StaticEncoder, BakedTokenizer]:
    """Open a folder of sentence-transformers' StaticEmbedding, or of model2vec."""
    file = weight_file(folder)
    rows = StaticEmbedding.load(file).ids
    encoder = StaticEncoder("static_embedding", lambda: StaticEmbedding.load(file))
    return encoder, _bake_tokenizer(folder, data, rows)


def static_embedding_beside(
    folder: ModelFolder, other: BakedTokenizer
) -> tuple[StaticEncoder, BakedTokenizer]:
    """Open the module as a route beside an encoder, whose special tokens do not count here."""
    encoder, baked = open_static_embedding(folder, read_tokenizer(folder))
    same = baked.with_parts(post_processor=json.loads(other.json)["post_processor"])
    limit = min(baked.max_length + sum(other.special_tokens), NO_LIMIT)
    return encoder, replace(same, pad_id=other.pad_id).cut_at(limit)


def _bake_tokenizer(folder: ModelFolder, data: TokenizerJson, rows: int) -> BakedTokenizer:
    """Bake a tokenizer without special tokens; only tokenizer.json counts, with its limit.

    Source: sentence-transformers ``StaticEmbedding.preprocess``.
    """
    without = data.model_copy(update={"padding": None, "post_processor": None})
    text, tokenizer = without.make(folder)
    highest = max(tokenizer.get_vocab(with_added_tokens=True).values(), default=-1)
    if highest >= rows:
        raise InputError(
            f"{folder.path}: tokenizer.json has the id {highest} and the embedding {rows} rows; "
            "use the tokenizer that was saved with the weights"
        )
    limit = data.truncation.max_length if data.truncation else NO_LIMIT
    return BakedTokenizer(text, limit, _PAD_ID, "right")
