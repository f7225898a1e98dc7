"""The windows in which a text that is too long goes through a model."""

from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

from polybake.runtime.tokenization.words import Chunk

#: Tokens that two windows share, at most.
#: Source: transformers ``QuestionAnsweringPipeline``, ``doc_stride``.
OVERLAP = 128


class ChunkWindow(NamedTuple):
    """A part of a text.

    Attributes:
        first: Its first chunk.
        last: The one behind its last.
    """

    first: int
    last: int


def windows(chunks: Sequence[Chunk], room: int) -> list[ChunkWindow]:
    """Cut a text between chunks, into as few windows as hold no more tokens than there is room.

    Two of them share as many chunks as have up to `OVERLAP` tokens, or half the room, as far as the
    next chunk fits beside them; a piece of a chunk is a window, as it has other tokens beside
    another one.
    """
    sizes = (chunk.tokens if chunk.inner is None else room + 1 for chunk in chunks)
    ends = [0, *accumulate(sizes)]
    shared = min(OVERLAP, room // 2)
    found: list[ChunkWindow] = []
    first = last = 0
    while last < len(chunks):
        last = first + 1
        while last < len(chunks) and ends[last + 1] - ends[first] <= room:
            last += 1
        found.append(ChunkWindow(first, last))
        first += 1
        while first < last and (
            ends[last] - ends[first] > shared
            or (last < len(chunks) and ends[last + 1] - ends[first] > room)
        ):
            first += 1
    return found
