"""An encoder that looks tokens up in tables, each token by itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from onnxscript import GraphBuilder, ir, nn

from polybake.encoders.bag_of_words import BagOfWords
from polybake.encoders.static_embedding import StaticEmbedding
from polybake.errors import InputError
from polybake.files.model_folder import ModelFolder
from polybake.layers.network import check_every_parameter_is_placed
from polybake.modelfile.manifest import Feed
from polybake.sources.encoder_graph import place, write_reference
from polybake.sources.source import EncoderGraph, Reference
from polybake.tokenization.static_tokenizer import bake_static_tokenizer
from polybake.tokenization.tokenizer import BakedTokenizer, read_tokenizer
from polybake.tokenization.word_tokenizer import Words, bake_word_tokenizer
from polybake.tokenization.word_weights import vocabulary, word_weights


@dataclass(frozen=True)
class Lookup:
    """An encoder whose module is made with its weights.

    Attributes:
        name: As the manifest shows it.
        make: Makes the module anew.
    """

    name: str
    make: Callable[[], nn.Module]
    proves: Literal["steps"] = "steps"

    def place(self) -> EncoderGraph:
        """Build the graph; the weights are read when it is written."""
        return place(self._add, ("input_ids", "attention_mask"))

    def _add(
        self, builder: GraphBuilder, values: Mapping[Feed, ir.Value]
    ) -> tuple[ir.Value, Sequence[ir.Value]]:
        encoder = self.make()
        embeddings = encoder(builder.op, values["input_ids"], values["attention_mask"])
        check_every_parameter_is_placed(encoder, builder.graph)
        return embeddings, ()

    def reference(self, folder: Path) -> Reference:
        """Write the encoder without any step."""
        return write_reference(self.place(), folder)


def open_static_embedding(
    folder: ModelFolder, tokenizer: dict[str, object] | None = None
) -> tuple[Lookup, BakedTokenizer]:
    """Open a folder of sentence-transformers' StaticEmbedding, or one of model2vec.

    Args:
        folder: Holds model.safetensors and tokenizer.json.
        tokenizer: What to take for the object in tokenizer.json; None takes the file's.

    Raises:
        InputError: a file is missing, damaged, or does not fit the others.
    """
    file = weight_file(folder)
    data = read_tokenizer(folder) if tokenizer is None else tokenizer
    baked = bake_static_tokenizer(folder, data, rows=StaticEmbedding.load(file).ids)
    return Lookup("static_embedding", lambda: StaticEmbedding.load(file)), baked


def weight_file(folder: ModelFolder) -> Path:
    """The path of a module's model.safetensors.

    Raises:
        InputError: there is none.
    """
    file = folder.file("model.safetensors")
    if file is None:
        raise InputError(
            f"{folder.path}: has no model.safetensors; save the model again with "
            "sentence-transformers 2.3 or later"
        )
    return file


def open_word_embeddings(folder: ModelFolder) -> tuple[Lookup, BakedTokenizer]:
    """Open a folder of sentence-transformers' WordEmbeddings.

    Raises:
        InputError: a file is missing or damaged, or the tokenizer is another than
            WhitespaceTokenizer.
    """
    config = folder.settings("wordembedding_config.json")
    kind = str(config.get("tokenizer_class")).rsplit(".", 1)[-1]
    if kind != "WhitespaceTokenizer":
        raise InputError(
            f"{folder.path}: tokenizer_class {kind} is not supported; known is: WhitespaceTokenizer"
        )
    limit = config.get("max_seq_length", 1_000_000)
    if not isinstance(limit, int) or limit < 1:
        raise InputError(
            f"{folder.path}: max_seq_length = {limit!r} is no number of words; set it to 1 or more"
        )
    settings = folder.settings("whitespacetokenizer_config.json")
    words = Words(
        tuple(vocabulary(folder, settings)),
        frozenset(vocabulary(folder, settings, "stop_words")),
        lowercase=settings.get("do_lower_case") is True,
    )
    file = weight_file(folder)
    rows = StaticEmbedding.load(file).ids
    if len(words.vocabulary) > rows:
        raise InputError(
            f"{folder.path}: the vocabulary has {len(words.vocabulary)} words and the embedding "
            f"{rows} rows; download it again"
        )
    tokenizer = bake_word_tokenizer(folder, words, max_length=limit)
    return Lookup("word_embeddings", lambda: StaticEmbedding.load(file)), tokenizer


def open_bag_of_words(folder: ModelFolder) -> tuple[Lookup, BakedTokenizer]:
    """Open a folder of sentence-transformers' BoW.

    Raises:
        InputError: config.json is missing or damaged.
    """
    config = folder.settings("config.json")
    words = list(dict.fromkeys(vocabulary(folder, config)))
    weights = word_weights(folder, config, words)
    cumulative = config.get("cumulative_term_frequency", True) is True
    tokenizer = bake_word_tokenizer(folder, Words(tuple(words)))
    return Lookup("bow", lambda: BagOfWords(weights, cumulative=cumulative)), tokenizer


#: The first modules of sentence-transformers that are no transformer.
LOOKUPS: dict[str, Callable[[ModelFolder], tuple[Lookup, BakedTokenizer]]] = {
    "StaticEmbedding": open_static_embedding,
    "WordEmbeddings": open_word_embeddings,
    "BoW": open_bag_of_words,
}
