"""What tokenizers of SentencePiece's files share."""

from collections.abc import Iterator, Sequence

from tokenizers import Tokenizer, models

from polybake.baking.sources.tokenizer_files.asked import Asked
from polybake.baking.sources.tokenizer_files.saved_tokens import Tokens
from polybake.baking.sources.tokenizer_files.sentencepiece_model import (
    CONTROL,
    UNKNOWN,
    USER_DEFINED,
    SentencePieceModel,
)
from polybake.baking.sources.tokenizer_files.vocabulary_files import shown
from polybake.errors import InputError
from polybake.runtime.tokenization.tokenizer_config import AddedToken

#: A piece and its score.
Scored = tuple[str, float]


def scored(saved: SentencePieceModel, first: int = 0) -> Iterator[Scored]:
    """Yield the pieces of a file from the one of the id ``first`` on."""
    return ((piece.text, piece.score) for piece in saved.pieces[first:])


def listed_tokens(saved: SentencePieceModel) -> Tokens:
    """The file's tokens that no text is cut to.

    Source: transformers ``SentencePieceExtractor.extract``.
    """
    return tuple(
        AddedToken(content=piece.text, special=piece.kind == CONTROL, normalized=False)
        for piece in saved.pieces
        if piece.kind in (CONTROL, USER_DEFINED)
    )


def check_first(asked: Asked, name: str, saved: SentencePieceModel, count: int) -> None:
    """Check that the first pieces, in whose place a class puts its own, are no text's.

    Raises:
        InputError: One is.
    """
    for number, piece in enumerate(saved.pieces[:count]):
        if piece.kind not in (UNKNOWN, CONTROL):
            raise _refused(asked, name, number, piece.text, "a special token")


def unigram(asked: Asked, name: str, pieces: Sequence[Scored], unknown: int) -> Tokenizer:
    """Make a tokenizer of pieces.

    Args:
        asked: The settings.
        name: The file's name, for messages.
        pieces: In the order of their ids.
        unknown: The id of the token that the settings call ``unk_token``.

    Raises:
        InputError: It is another token's id, or a piece stands there twice.
    """
    wanted = asked.token("unk_token")
    if unknown >= len(pieces) or pieces[unknown][0] != wanted:
        found = pieces[unknown][0] if unknown < len(pieces) else None
        raise _refused(asked, name, unknown, found, repr(wanted))
    ids = dict[str, int]()
    for number, (piece, _) in enumerate(pieces):
        if ids.setdefault(piece, number) != number:
            raise _refused(asked, name, number, piece, f"a token without the id {ids[piece]}")
    return Tokenizer(models.Unigram([*pieces], unk_id=unknown, byte_fallback=False))


def _refused(asked: Asked, name: str, number: int, found: str | None, expected: str) -> InputError:
    return InputError(
        f"{asked.folder.path / name}: the tokenizer's class gives the id {number} to "
        f"{shown(found)}, expected {expected}; name the class that the model was trained with as "
        "tokenizer_class in tokenizer_config.json"
    )
