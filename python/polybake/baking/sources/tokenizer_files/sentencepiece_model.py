"""A ``.model`` file of SentencePiece, which is not trusted.

Source: SentencePiece's sentencepiece_model.proto, ``ModelProto``.
"""

import math
import struct
from dataclasses import dataclass
from typing import Literal, NamedTuple

from polybake.baking.sources.tokenizer_files.characters_map import fault_of
from polybake.baking.sources.tokenizer_files.vocabulary_files import (
    MOST_TOKENS,
    check_tokens,
    read_bytes,
    shown,
)
from polybake.base.files.model_folder import ModelFolder
from polybake.base.modelfile.protobuf import DamagedError, fields
from polybake.errors import InputError

_AGAIN = "download it again"
Algorithm = Literal["Unigram", "BPE"]

#: Numbers of fields: of the model, of a piece, of trainer_spec and of normalizer_spec.
_PIECES, _TRAINER, _NORMALIZER = 1, 2, 3
_TEXT, _SCORE, _KIND = 1, 2, 3
_ALGORITHM, _UNKNOWN_ID = 3, 40
_CHARACTERS_MAP = 2
#: Values of ``model_type`` by name; ``Type`` of a piece.
_ALGORITHMS: dict[object, Algorithm] = {1: "Unigram", 2: "BPE"}
_NORMAL, UNKNOWN, CONTROL, USER_DEFINED, _LAST_KIND = 1, 2, 3, 4, 6


class Piece(NamedTuple):
    """A token of the vocabulary.

    Attributes:
        text: Its characters.
        score: The logarithm of its probability, or for BPE the order of merges.
        kind: `UNKNOWN`, `CONTROL`, `USER_DEFINED` or another number of ``Type``.
    """

    text: str
    score: float
    kind: int


@dataclass(frozen=True)
class SentencePieceModel:
    """What tokenizers are made of.

    Attributes:
        pieces: In the order of their ids.
        unknown: The id of the unknown token.
        characters_map: The replacements of characters, as SentencePiece compiled them.
    """

    pieces: tuple[Piece, ...]
    unknown: int
    characters_map: bytes


def read_sentencepiece(folder: ModelFolder, name: str, algorithm: Algorithm) -> SentencePieceModel:
    """Read a file.

    Args:
        folder: The model's.
        name: The file's name.
        algorithm: The algorithm that it must be trained with.

    Raises:
        InputError: The file is missing or damaged, or was trained with another algorithm.
    """
    path, content = folder.path / name, read_bytes(folder, name)
    try:
        return _read(folder, name, content, algorithm)
    except DamagedError as error:
        raise InputError(
            f"{path}: is no whole model of SentencePiece (field at byte {error.position}); {_AGAIN}"
        ) from error


def _read(
    folder: ModelFolder, name: str, content: bytes, algorithm: Algorithm
) -> SentencePieceModel:
    path, pieces = folder.path / name, list[Piece]()
    trainer: dict[int, int | bytes] = {}
    normalizer: dict[int, int | bytes] = {}
    # A message of which the file has two is what both say; protobuf calls that merging.
    for number, value in fields(content):
        if number == _PIECES and len(pieces) < MOST_TOKENS:
            pieces.append(_piece(folder, name, len(pieces), _bytes(value)))
        elif number == _PIECES:
            raise InputError(f"{path}: has more than {MOST_TOKENS} pieces; {_AGAIN}")
        elif number == _TRAINER:
            trainer |= fields(_bytes(value))
        elif number == _NORMALIZER:
            normalizer |= fields(_bytes(value))
    found = _ALGORITHMS.get(trainer.get(_ALGORITHM, 1), "another algorithm")
    if found != algorithm:
        raise InputError(
            f"{path}: was trained as {found}, expected {algorithm}, which the tokenizer's class "
            "takes; download the whole model again"
        )
    ids = {piece.text: number for number, piece in enumerate(pieces)}
    if len(ids) < len(pieces):
        twice = next(piece.text for number, piece in enumerate(pieces) if ids[piece.text] != number)
        raise InputError(f"{path}: has the piece {shown(twice)} twice; {_AGAIN}")
    check_tokens(folder, name, ids)
    unknown = trainer.get(_UNKNOWN_ID, 0)
    characters_map = _bytes(normalizer.get(_CHARACTERS_MAP, b""))
    if not isinstance(unknown, int) or unknown >= len(pieces):
        raise InputError(
            f"{path}: trainer_spec.unk_id = {unknown!r}, expected one of its {len(pieces)} "
            f"pieces; {_AGAIN}"
        )
    if characters_map and (fault := fault_of(characters_map)):
        raise InputError(f"{path}: normalizer_spec.precompiled_charsmap {fault}; {_AGAIN}")
    return SentencePieceModel(tuple(pieces), unknown, characters_map)


def _piece(folder: ModelFolder, name: str, number: int, message: bytes) -> Piece:
    try:
        found = dict(fields(message))
        text = _bytes(found.get(_TEXT, b"")).decode("utf-8")
        (score,) = struct.unpack("<f", _bytes(found.get(_SCORE, bytes(4))))
    except (DamagedError, UnicodeDecodeError, struct.error) as error:
        raise InputError(
            f"{folder.path / name}: piece {number} is damaged ({error}); {_AGAIN}"
        ) from error
    kind = found.get(_KIND, _NORMAL)
    known = isinstance(kind, int) and _NORMAL <= kind <= _LAST_KIND
    if not text or not math.isfinite(score) or not known:
        raise InputError(
            f"{folder.path / name}: piece {number} is {shown(text)} with the score {score} and "
            f"the type {shown(kind)}, expected a text, a finite score and a type from 1 to "
            f"{_LAST_KIND}; {_AGAIN}"
        )
    return Piece(text, score, int(kind))


def _bytes(value: int | bytes) -> bytes:
    """A value that is no varint.

    Raises:
        DamagedError: It is one.
    """
    if isinstance(value, int):
        raise DamagedError(0)
    return value
