"""SentencePiece's models of the algorithm BPE, whose unknown characters are bytes: Llama, Gemma."""

from tokenizers import Tokenizer, models

from polybake.baking.sources.tokenizer_files.asked import Asked
from polybake.baking.sources.tokenizer_files.edges import asked_edges
from polybake.baking.sources.tokenizer_files.pieces import listed_tokens
from polybake.baking.sources.tokenizer_files.sentencepiece_model import (
    SentencePieceModel,
    read_sentencepiece,
)
from polybake.errors import InputError
from polybake.runtime.tokenization import class_parts

LLAMA_FILE = "tokenizer.model"


def llama(asked: Asked) -> Tokenizer:
    """Source: transformers ``LlamaTokenizer``."""
    saved, ids = _read(asked)
    made = Tokenizer(
        models.BPE(ids, merges(ids), fuse_unk=True, byte_fallback=True),
    )
    class_parts.llama(asked.config, b"").put_into(made)
    return _with_tokens(asked, saved, made)


def gemma(asked: Asked) -> Tokenizer:
    """Source: transformers ``GemmaTokenizer``."""
    saved, ids = _read(asked)
    unk = asked.token("unk_token")
    pieces = models.BPE(ids, merges(ids), fuse_unk=True, unk_token=unk, byte_fallback=True)
    made = Tokenizer(pieces)
    class_parts.gemma(asked.config, b"").put_into(made)
    return _with_tokens(asked, saved, made)


def merges(ids: dict[str, int]) -> list[tuple[str, str]]:
    """All pairs of pieces that give a third, in the order of its id, then of the first's length.

    Source: transformers ``generate_merges``.
    """
    return [
        (piece[:end], piece[end:])
        for piece in ids
        for end in range(1, len(piece))
        if piece[:end] in ids and piece[end:] in ids
    ]


def _read(asked: Asked) -> tuple[SentencePieceModel, dict[str, int]]:
    """Read the file.

    Raises:
        InputError: As in `read_sentencepiece`, or the settings do not say whether a token stands
            before a text: transformers 4 puts one there by default, and 5 does not.
    """
    config = asked.config
    if config.add_bos_token is None:
        raise InputError(
            f"{asked.folder.path}: has no tokenizer.json, and tokenizer_config.json no "
            "add_bos_token, which transformers 4 takes for true and 5 for false; set it to what "
            "the model was trained with"
        )
    saved = read_sentencepiece(asked.folder, LLAMA_FILE, "BPE")
    return saved, {piece.text: number for number, piece in enumerate(saved.pieces)}


def _with_tokens(asked: Asked, saved: SentencePieceModel, made: Tokenizer) -> Tokenizer:
    asked.add_tokens(made, listed_tokens(saved))
    made.post_processor = asked_edges(asked, made)
    return made
