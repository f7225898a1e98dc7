"""Join two texts to a row, exactly like ``tokenizers``, of which not every binding takes pairs."""

from collections.abc import Sequence

from polybake.base.modelfile.manifest import Pair
from polybake.errors import InputError


def surrounded(pair: Pair, texts: tuple[str, str]) -> tuple[str, str]:
    """Return two texts with what stands around each and is tokenised with it."""
    first, second = (
        piece.before + texts[piece.text] + piece.after
        for piece in pair.texts
        if piece.text is not None
    )
    return first, second


def join(
    pair: Pair, first: Sequence[int], second: Sequence[int], max_length: int
) -> tuple[list[int], list[int]]:
    """Join two texts' ids, without special tokens; return the ids of the pair and their types."""
    room = max_length - pair.special
    first, second = first[: pair.texts[0].limit], second[: pair.texts[1].limit]
    sizes = _sizes(pair, len(first), len(second), room)
    cut = slice(None) if pair.truncation_side == "right" else slice(None, None, -1)
    texts = [[*ids[cut]][:size][cut] for ids, size in zip((first, second), sizes, strict=True)]
    ids: list[int] = []
    types: list[int] = []
    for piece in pair.pieces:
        part = texts[piece.text] if piece.id is None and piece.text is not None else [piece.id or 0]
        ids += part
        types += [piece.type_id] * len(part)
    return ids, types


def _sizes(pair: Pair, first: int, second: int, room: int) -> tuple[int, int]:
    """How many tokens are kept of each text.

    Source: tokenizers ``truncate_encodings``.
    """
    if first + second <= room:
        return first, second
    if pair.truncate != "longest_first":
        size = first if pair.truncate == "only_second" else second
        if size >= room:
            name = "first" if pair.truncate == "only_second" else "second"
            raise InputError(
                f"the {name} text has {size} tokens, expected less than {room}, so that there is "
                "room for the other; shorten it"
            )
        return (size, room - size) if pair.truncate == "only_second" else (room - size, size)
    short = min(first, second, room // 2)
    return (short, room - short) if first <= second else (room - short, short)
