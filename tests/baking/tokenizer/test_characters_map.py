"""SentencePiece's replacements of characters, whole and damaged."""

from __future__ import annotations

import struct
from base64 import b64encode
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import normalizers

from models.folders.sentencepiece_files import REPLACED, characters_map
from models.folders.tiny_folders import change_json, write_tokenizer
from polybake.baking.tokenizer import characters_map as checked
from polybake.baking.tokenizer.folder_tokenizer import open_tokenizer
from polybake.base.files.model_folder import ModelFolder
from polybake.errors import InputError

MAP = characters_map()
SIZE = struct.unpack("<I", MAP[:4])[0]


def fault_of(compiled: bytes) -> str | None:
    return checked.fault_of(b64encode(compiled).decode())


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


@pytest.mark.parametrize(("coded", "shown"), [("!", "is no base64"), ("AAAA", "array of 0 bytes")])
def test_a_tokenizer_json_with_a_damaged_map_is_refused(
    coded: str, shown: str, tmp_path: Path
) -> None:
    """Before anything is searched in it."""
    write_tokenizer(tmp_path)
    part = {"type": "Precompiled", "precompiled_charsmap": coded}
    change_json(tmp_path / "tokenizer.json", normalizer=part)
    with pytest.raises(InputError, match=rf"tokenizer\.json: precompiled_charsmap .*{shown}"):
        open_tokenizer(ModelFolder.at(tmp_path))
