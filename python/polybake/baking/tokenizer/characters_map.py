"""SentencePiece's replacements of characters, checked before tokenizers searches them.

A search that leaves the map's table, or a replacement that ends within a character, ends the
process of a runtime.

Source: SentencePiece ``Normalizer::DecodePrecompiledCharsMap``; spm_precompiled ``Precompiled``.
"""

from base64 import b64decode

import numpy as np

#: The most bytes of a map; NFKC's has 240 thousand.
_MOST = 8 * 2**20
#: A search goes on at a unit's place XOR its offset XOR the next byte.
_WIDEST = 0xFF
_LEAF, _VALUE = 1 << 8, (1 << 31) - 1


def fault_of(coded: str) -> str | None:
    """Say what is wrong with a map in base64; None if every search in it ends.

    It has the size of a double array in bytes, as 4 bytes; the array, of units of 4 bytes; the
    replacements in UTF-8, each with a NUL behind it.
    """
    try:
        compiled = b64decode(coded, validate=True)
    except ValueError as error:
        return f"is no base64 ({error})"
    if len(compiled) > _MOST:
        return f"has {len(compiled)} bytes, expected at most {_MOST}"
    size = int.from_bytes(compiled[:4], "little")
    if len(compiled) < 8 or not size or size % 4 or size > len(compiled) - 4:
        return f"has an array of {size} bytes, expected units of 4 bytes within {len(compiled)}"
    units = np.frombuffer(compiled, "<u4", size // 4, 4).astype(np.int64)
    replacements = compiled[4 + size :]
    try:
        replacements.decode("utf-8")
    except UnicodeDecodeError as error:
        return f"has a replacement that is no UTF-8 at byte {4 + size + error.start}"
    return _fault_of_array(units, replacements)


def _fault_of_array(units: np.ndarray, replacements: bytes) -> str | None:
    """Return the first fault of a double array, ``int64[units]``; None if it has none.

    All units are checked, also those that no search reaches.
    """
    # A unit with the highest bit is the value of a leaf; of these only the first is searched.
    places = np.flatnonzero((units >> 31 == 0) | (np.arange(len(units)) == 0))
    inner = units[places]
    bases = places ^ ((inner >> 10) << ((inner & (1 << 9)) >> 6))
    if outside := np.flatnonzero((bases | _WIDEST) >= len(units)).tolist():
        return f"leads out of its array at unit {places[outside[0]]}"
    values = units[bases[inner & _LEAF != 0]] & _VALUE
    begins = np.frombuffer(replacements, np.uint8) & 0xC0 != 0x80
    if (values >= len(replacements)).any() or not begins[values].all():
        return "has a replacement that begins within a character or beyond the last one"
    return None
