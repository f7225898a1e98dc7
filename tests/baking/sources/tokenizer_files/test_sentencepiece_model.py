"""SentencePiece's files and their replacements of characters, whole and damaged."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import normalizers

from models.folders.sentencepiece_files import (
    BPE,
    CONTROL,
    REPLACED,
    UNIGRAM,
    UNKNOWN,
    characters_map,
    field,
    model,
    piece,
)
from polybake.baking.sources.tokenizer_files import sentencepiece_model
from polybake.baking.sources.tokenizer_files.characters_map import fault_of
from polybake.baking.sources.tokenizer_files.sentencepiece_model import (
    Piece,
    SentencePieceModel,
    read_sentencepiece,
)
from polybake.base.files.model_folder import ModelFolder
from polybake.errors import InputError

PIECES = [("<unk>", 0.0, UNKNOWN), ("<s>", 0.0, CONTROL), ("\u2581the", -1.5, 1), ("a", -2.25, 1)]


def read(folder: Path, content: bytes) -> SentencePieceModel:
    (folder / "spiece.model").write_bytes(content)
    return read_sentencepiece(ModelFolder.at(folder), "spiece.model", "Unigram")


def test_all_that_counts_is_read(tmp_path: Path) -> None:
    """Pieces with scores and types, the unknown one, and replacements; unknown fields are not."""
    characters = characters_map()
    content = model(PIECES, characters=characters, unknown=0) + field(4, b"self-test") + field(9, 3)
    found = read(tmp_path, content)
    assert found.pieces == tuple(Piece(*one) for one in PIECES)
    assert (found.unknown, found.characters_map) == (0, characters)


def test_defaults_are_sentencepiece_s(tmp_path: Path) -> None:
    """A piece without a score and a type, and no specification of the training."""
    found = read(tmp_path, field(1, field(1, b"a")) + field(2, b""))
    assert found == SentencePieceModel((Piece("a", 0.0, 1),), 0, b"")


def test_messages_of_one_field_are_merged(tmp_path: Path) -> None:
    """As protobuf reads them: the later value counts, and what only the first says stays."""
    content = b"".join(piece(*one) for one in PIECES)
    content += field(2, field(40, 1) + field(3, BPE)) + field(2, field(3, UNIGRAM))
    assert read(tmp_path, content).unknown == 1


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        (b"", "has no token"),
        (b"hello world", r"is no whole model of SentencePiece \(field at byte 2\)"),
        (model(PIECES)[:-3], "is no whole model of SentencePiece"),
        (model(PIECES) + b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", "no whole model"),
        (model(PIECES, BPE), "was trained as BPE, expected Unigram.*download the whole"),
        (model(PIECES, 4), "was trained as another algorithm"),
        (model([*PIECES, PIECES[2]]), "has the piece '\u2581the' twice"),
        (model([*PIECES, ("", 0.0, 1)]), "piece 4 is ''.*expected a text"),
        (model([*PIECES, ("b" * 1025, 0.0, 1)]), "has 1025 characters"),
        (model([*PIECES, ("b", float("nan"), 1)]), "piece 4 .* score nan"),
        (model([*PIECES, ("b", float("-inf"), 1)]), "piece 4 .* score -inf"),
        (model([*PIECES, ("b", 0.0, 7)]), "the type 7"),
        (model(PIECES, unknown=4), "unk_id = 4, expected one of its 4 pieces"),
        (model(PIECES, unknown=2**64 - 1), "unk_id = 18446744073709551615"),
        (model(PIECES, characters=b"nonsense"), "precompiled_charsmap has an array of"),
        (piece(b"\xff", 0.0), "piece 0 is damaged"),
        (field(1, field(2, b"three")), "piece 0 is damaged"),
        (field(1, field(1, b"a") + b"\x15\x00"), "piece 0 is damaged"),
        (field(1, 3), "no whole model"),
        (field(1, b"\x0b"), "piece 0 is damaged"),
    ],
)
def test_a_damaged_file_is_refused(content: bytes, shown: str, tmp_path: Path) -> None:
    """The message names the file and what is wrong."""
    with pytest.raises(InputError, match=rf"spiece\.model: .*{shown}"):
        read(tmp_path, content)


def test_too_many_pieces_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are not even read."""
    monkeypatch.setattr(sentencepiece_model, "MOST_TOKENS", 3)
    with pytest.raises(InputError, match="has more than 3 pieces"):
        read(tmp_path, model(PIECES))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("damaged")


WHOLE = model(PIECES, characters=characters_map({"\uff21": "A"}))
DAMAGES: list[Callable[[int, int], bytes]] = [
    lambda place, _: WHOLE[:place],
    lambda place, byte: WHOLE[:place] + bytes([byte]) + WHOLE[place + 1 :],
    lambda place, byte: WHOLE[:place] + bytes([byte]) + WHOLE[place:],
    lambda place, byte: WHOLE[:place] + WHOLE[place + 1 + byte :],
]


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(DAMAGES), st.integers(0, 150), st.integers(0, 255))
def test_any_damage_is_an_error_or_harmless(
    folder: Path, damage: Callable[[int, int], bytes], place: int, byte: int
) -> None:
    """No other error, wherever a file is cut or changed."""
    message, found = "", None
    try:
        found = read(folder, damage(place, byte))
    except InputError as error:
        message = str(error)
    assert found is not None or ("spiece.model" in message and message.isprintable())


MAP = characters_map()
SIZE = struct.unpack("<I", MAP[:4])[0]


def changed(unit: int, value: int) -> bytes:
    """The map with another unit."""
    place = 4 + 4 * unit
    return MAP[:place] + struct.pack("<I", value) + MAP[place + 4 :]


def test_a_whole_map_replaces_as_it_says() -> None:
    """Each of its texts, and none beside them."""
    assert fault_of(MAP) is None
    normalizer = normalizers.Precompiled(MAP)
    for found, text in REPLACED.items():
        assert normalizer.normalize_str(f"x{found}y") == f"x{text}y"
    assert normalizer.normalize_str("e\uff23\u4e2d") == "e\uff23\u4e2d"


@pytest.mark.parametrize(
    ("compiled", "shown"),
    [
        (b"", "array of 0 bytes"),
        (b"\0\0\0\0\0\0\0\0", "array of 0 bytes"),
        (MAP[:100], f"array of {SIZE} bytes, expected units of 4 bytes within 100"),
        (struct.pack("<I", SIZE - 1) + MAP[4:], "units of 4 bytes"),
        (MAP + b"\xff", f"no UTF-8 at byte {len(MAP)}"),
        (changed(0, 1 << 31), "unit 0"),
        (changed(7, 0x3FFF << 10), "leads out of its array at unit 7"),
        (changed(7, 1 << 9 | 0x1FFFFF << 10), "leads out of its array at unit 7"),
        (bytes(9 * 2**20), "expected at most 8388608"),
    ],
)
def test_a_damaged_map_is_refused(compiled: bytes, shown: str) -> None:
    """The fault is named."""
    assert shown in (fault_of(compiled) or "")


@pytest.mark.parametrize("value", [10_000, 8])
def test_a_replacement_must_begin_at_a_character(value: int) -> None:
    """Beyond the last one, and within one of two bytes, it would end a runtime's process."""
    units = np.frombuffer(MAP, "<u4", SIZE // 4, 4)
    leaves = np.flatnonzero(units >> 31)
    replacements = MAP[4 + SIZE :]
    value = value if value > 8 else replacements.index("\u00e9".encode()) + 1
    assert "begins within a character" in (fault_of(changed(leaves[0], 1 << 31 | value)) or "")


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(st.integers(0, SIZE // 4 - 1), st.integers(0, 2**32 - 1)), max_size=4))
def test_what_passes_ends_no_process(changes: list[tuple[int, int]]) -> None:
    """Any map that has no fault is searched to its end, whatever the text."""
    compiled = bytearray(MAP)
    for unit, value in changes:
        compiled[4 + 4 * unit : 8 + 4 * unit] = struct.pack("<I", value)
    if fault_of(bytes(compiled)) is None:
        normalizer = normalizers.Precompiled(bytes(compiled))
        normalizer.normalize_str("".join(REPLACED) + "".join(map(chr, range(32, 0x3000, 3))))
