"""The windows of long texts."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from polybake.runtime.tokenization.windows import OVERLAP, ChunkWindow, windows
from polybake.runtime.tokenization.words import Chunk


def of(*tokens: int) -> list[Chunk]:
    return [Chunk(place, place + 1, count, ()) for place, count in enumerate(tokens)]


def test_a_text_that_fits_is_one_window() -> None:
    """A blank text has no window at all."""
    assert windows(of(2, 3, 5), 10) == [ChunkWindow(0, 3)]
    assert windows([], 10) == []


def test_windows_overlap_by_half_their_room() -> None:
    """Windows share whole chunks only, and no more than half their room."""
    assert windows(of(*[1] * 10), 6) == [ChunkWindow(0, 6), ChunkWindow(3, 9), ChunkWindow(6, 10)]
    assert windows(of(4, 4, 4), 8) == [ChunkWindow(0, 2), ChunkWindow(1, 3)]
    assert windows(of(5, 5, 5), 8) == [ChunkWindow(0, 1), ChunkWindow(1, 2), ChunkWindow(2, 3)]


def test_a_piece_is_a_window() -> None:
    """A piece stands alone, as beside another one it would have other tokens."""
    pieces = [chunk._replace(inner=chunk.start) for chunk in of(2, 2)]
    (after,) = of(1)
    assert windows([*of(1, 1), *pieces, after], 10) == [
        ChunkWindow(0, 2),
        ChunkWindow(2, 3),
        ChunkWindow(3, 4),
        ChunkWindow(4, 5),
    ]


def test_a_chunk_that_is_too_long_is_a_window() -> None:
    """A chunk that fills a window stands alone, whatever its neighbours."""
    assert windows(of(1, 30, 1), 6) == [ChunkWindow(0, 1), ChunkWindow(1, 2), ChunkWindow(2, 3)]
    assert windows(of(*[1] * 5, 6, 1), 6) == [
        ChunkWindow(0, 5),
        ChunkWindow(5, 6),
        ChunkWindow(6, 7),
    ]


@given(st.lists(st.integers(0, 12)), st.integers(1, 600))
def test_every_chunk_is_in_a_window(tokens: list[int], room: int) -> None:
    """Windows keep the order, fit unless one chunk is too long, and overlap within limits."""
    found = windows(of(*tokens), room)
    assert {place for one in found for place in range(*one)} == {*range(len(tokens))}
    for one in found:
        assert sum(tokens[one.first : one.last]) <= room or one.last == one.first + 1
    for before, after in pairwise(found):
        assert before.first < after.first <= before.last < after.last
        assert not {*range(*after)} <= {*range(*before)}
        assert sum(tokens[after.first : before.last]) <= min(OVERLAP, room // 2)
