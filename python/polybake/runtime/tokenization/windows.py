"""Cut a text that is too long into windows, which go through a model one by one."""

from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

from polybake.runtime.tokenization.words import Chunk

#: Tokens that two windows share, at most.
#: Source: transformers ``QuestionAnsweringPipeline``, ``doc_stride``.
OVERLAP = 128


class ChunkWindow(NamedTuple):
    """A window of a text.

    Attributes:
        first: The place of its first chunk.
        last: The place after its last chunk.
    """

    first: int
    last: int


def windows(chunks: Sequence[Chunk], room: int) -> list[ChunkWindow]:
    """Cut a text between chunks into as few windows as have at most ``room`` tokens each.

    Two windows share the chunks of up to `OVERLAP` tokens, or of half the room, if the next chunk
    still fits. A piece of a chunk is a window of its own, as its tokens would change beside others.
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
