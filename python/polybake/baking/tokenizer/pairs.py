"""How a tokenizer joins two texts, as the contract says it.

Not every language's binding takes pairs. So a model of pairs carries a tokenizer without special
tokens, and the contract says where the special tokens stand.
"""

from typing import Literal

from tokenizers import Tokenizer

from polybake.base.modelfile.manifest import SOUGHT, Cut, Pair, Piece
from polybake.errors import InputError
from polybake.runtime.tokenizer import BakedTokenizer

#: Every tokenizer has a token for at least one of these.
_PROBES = ("a", "the", "0", ".", "\u4e2d")


def for_pairs(
    baked: BakedTokenizer, cut: Cut, *, typed: bool = True, sought: bool = False
) -> tuple[BakedTokenizer, Pair]:
    """Return the tokenizer without special tokens, and how it joined two texts.

    Tokens have the types of tokenizer.json if ``typed``, else 0; those of the second text also say
    that answers are sought in it if ``sought``.
    """
    pair = pair_of(Tokenizer.from_str(baked.with_parts(truncation=None).json), baked.cut_side)
    if not typed:
        pieces = (piece.model_copy(update={"type_id": 0}) for piece in pair.pieces)
        pair = pair.model_copy(update={"pieces": tuple(pieces)})
    if sought:
        pair = _marked(pair)
    bare = baked.with_parts(truncation=None, post_processor=None)
    return bare, pair.model_copy(update={"truncate": cut})


def pair_of(tokenizer: Tokenizer, side: Literal["right", "left"]) -> Pair:
    """Find where a tokenizer without a limit puts the texts of a pair and its special tokens."""
    for probe in _PROBES:
        encoding = tokenizer.encode(probe, probe)
        pieces: list[Piece] = []
        for index, text in enumerate(encoding.sequence_ids):
            token, type_id = encoding.ids[index], encoding.type_ids[index]
            if text is None:
                pieces.append(Piece(id=token, type_id=type_id))
            elif not pieces or pieces[-1].text != text:
                pieces.append(Piece(text=0 if text == 0 else 1, type_id=type_id))
        if [piece.text for piece in pieces if piece.id is None] == [0, 1]:
            return Pair(pieces=tuple(pieces), truncation_side=side)
    raise InputError(
        "the tokenizer does not join two texts, expected a post-processor for pairs in "
        "tokenizer.json; name the class of the model's tokenizer as tokenizer_class in "
        "tokenizer_config.json, and save the tokenizer again with transformers"
    )


def _marked(pair: Pair) -> Pair:
    """Return the pair whose types mark the second text as the one that answers are taken from."""
    if pair.pieces[0].id is None:
        raise InputError(
            "the tokenizer puts no token before a question, expected one that stands for no "
            "answer, such as [CLS]; save the tokenizer with which the model was trained"
        )
    pieces = (
        piece.model_copy(update={"type_id": piece.type_id + SOUGHT}) if piece.text == 1 else piece
        for piece in pair.pieces
    )
    return pair.model_copy(update={"pieces": tuple(pieces)})
