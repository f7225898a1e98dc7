"""Bodies that arrive in pieces, too slowly, or too many at once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterable

import pytest
from starlette.types import Message, Receive

from polybake.serving.bodies import Bodies
from polybake.serving.limits import Limits
from polybake.serving.refusal import Refusal

LIMITS = Limits(body=100, bodies=150, receive=0.2)


def pieces(*sizes: int, whole: bool = False) -> Receive:
    """The pieces of a body, and then nothing or its end."""
    left = [*sizes]

    async def receive() -> Message:
        if not left:
            await (asyncio.sleep(0) if whole else asyncio.Event().wait())
            return {"type": "http.request", "body": b"", "more_body": False}
        return {"type": "http.request", "body": b"a" * left.pop(0), "more_body": True}

    return receive


async def size(bodies: Bodies, receive: Receive, during: Iterable[Awaitable[object]] = ()) -> int:
    async with bodies.received(receive) as body:
        for one in during:
            await one
        return len(body)


def test_a_late_body_is_ended() -> None:
    """A body that drips in piece by piece does not outlast the time limit."""

    async def dripping() -> Message:
        await asyncio.sleep(0.01)
        return {"type": "http.request", "body": b"", "more_body": True}

    with pytest.raises(Refusal, match=r"did not arrive within 0.2 seconds; send fewer") as late:
        asyncio.run(size(Bodies(LIMITS), dripping))
    assert late.value.status == 408


def test_a_body_that_ends_early_is_no_body() -> None:
    """Half a body is not taken for the whole."""

    async def gone() -> Message:
        return {"type": "http.disconnect"}

    with pytest.raises(Refusal, match="ends early") as early:
        asyncio.run(size(Bodies(LIMITS), gone))
    assert early.value.status == 400


def test_the_largest_unfinished_body_makes_room() -> None:
    """A small body gets the room of the largest unfinished one, and room comes back."""

    async def use() -> None:
        bodies = Bodies(LIMITS)
        held = [asyncio.create_task(size(bodies, pieces(*sizes))) for sizes in ([40, 30], [60])]
        await asyncio.sleep(0)
        assert await size(bodies, pieces(50, whole=True)) == 50
        found = await asyncio.gather(*held, return_exceptions=True)
        statuses = [one.status for one in found if isinstance(one, Refusal)]
        assert statuses == [429, 408]
        for _ in range(5):
            assert await size(bodies, pieces(100, whole=True)) == 100

    asyncio.run(use())


def test_bodies_at_work_count() -> None:
    """A body counts until it is answered; once it is whole, nothing of it is taken back."""

    async def use() -> None:
        bodies, answered = Bodies(LIMITS), asyncio.Event()
        work = asyncio.create_task(size(bodies, pieces(90, whole=True), [answered.wait()]))
        await asyncio.sleep(0.01)
        with pytest.raises(Refusal, match="bodies of 150 bytes are held; ask again") as full:
            await size(bodies, pieces(61, whole=True))
        assert (full.value.status, full.value.headers) == (429, {"Retry-After": "1"})
        answered.set()
        assert await work == 90
        assert await size(bodies, pieces(61, whole=True)) == 61

    asyncio.run(use())
