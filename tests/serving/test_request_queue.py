"""Rows of many callers share batches."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from polybake.errors import CheckFailed
from polybake.runtime.embedder import Embedder
from polybake.runtime.runner import Runner
from polybake.serving import request_queue as under_test
from polybake.serving.refusal import Refusal
from polybake.serving.request_queue import RequestQueue, Vectors

pytestmark = pytest.mark.anyio


@dataclass(frozen=True)
class Recorded(Runner):
    """Notes the rows of each batch, and stops at the id 9."""

    batches: tuple[list[list[int]], ...] = ()

    def of_each(self, rows: list[list[int]], prompt: str | None = None) -> list[Vectors]:  # type: ignore[override]
        self.batches[0].append([len(row) for row in rows])
        if any(9 in row for row in rows):
            raise CheckFailed("the model does not run")
        return super().of_each(rows, prompt)


@pytest.fixture
def runner(every_feed: Path) -> Recorded:
    made = Embedder(every_feed, at_once=1).runner
    contract = made.contract.model_copy(update={"default_prompt": None})
    return Recorded(made.session, contract, made.tokenizer, 1, 64, batches=([],))


@asynccontextmanager
async def running(
    runner: Runner,
    *,
    wait: float = 0.01,
    limit: int = 999,
    within: float = 60.0,
    ran: Callable[[int], None] | None = None,
) -> AsyncIterator[RequestQueue]:
    batching = RequestQueue(runner, wait=wait, limit=limit, within=within, ran=ran)
    yield batching
    await asyncio.wait_for(batching.close(), 10)


async def test_callers_share_batches_and_get_their_own(runner: Recorded) -> None:
    """Each caller gets the vectors it would get alone."""
    rows = [[1 + place % 7] * (1 + place * 5 % 12) for place in range(60)]
    async with running(runner) as batching:
        asked = [batching.vectors(rows[place : place + 3], None) for place in range(0, 60, 3)]
        found = [vectors for some in await asyncio.gather(*asked) for vectors in some]
        for row, vectors in zip(rows, found, strict=True):
            alone = Runner.of_each(runner, [row])[0]
            np.testing.assert_allclose(vectors, alone, atol=1e-6)
        assert batching.waiting == 0
    sizes = runner.batches[0]
    assert sum(map(len, sizes)) == 60
    assert len(sizes) < 20
    assert all(max(batch) * len(batch) <= 64 or len(batch) == 1 for batch in sizes)


async def test_a_row_longer_than_a_batch_stands_alone(runner: Recorded) -> None:
    """A row longer than a batch is run all the same."""
    async with running(replace(runner, budget=8)) as batching:
        found = await batching.vectors([[1] * 16, [2] * 3, [3] * 16], None)
        assert [len(vectors) for vectors in found] == [1, 1, 1]
    assert sorted(runner.batches[0]) == [[3], [16], [16]]


async def test_prompts_do_not_mix(runner: Recorded) -> None:
    """A batch has one prompt."""
    async with running(runner) as batching:
        rows = [[1, 2], [3, 4]]
        plain, query = await asyncio.gather(
            batching.vectors(rows, None), batching.vectors(rows, "query")
        )
        assert not np.allclose(np.concatenate(plain), np.concatenate(query))
    assert runner.batches[0] == [[2, 2], [2, 2]]


async def test_no_queue_grows(runner: Recorded) -> None:
    """A caller that finds the queue full is told to come again."""
    async with running(runner, limit=12) as batching:
        first = asyncio.create_task(batching.vectors([[1] * 8], None))
        await asyncio.sleep(0)
        with pytest.raises(Refusal, match="8 tokens wait already, and --waiting allows 12") as busy:
            await batching.vectors([[1] * 5], None)
        assert (busy.value.status, busy.value.headers) == (429, {"Retry-After": "1"})
        assert len(await first) == 1
        assert len(await batching.vectors([[1] * 12], None)) == 1


@pytest.mark.parametrize(
    ("within", "rows", "shown", "again"),
    [
        (0.5, 7, r"--timeout allows 0.5 seconds, in which 80 are done", 1),
        (2.5, 39, r"--timeout allows 2.5 seconds, in which 400 are done", 3),
    ],
)
async def test_no_caller_waits_too_long(
    runner: Recorded,
    monkeypatch: pytest.MonkeyPatch,
    within: float,
    rows: int,
    shown: str,
    again: int,
) -> None:
    """By the pace of those before; who would wait longer is told when to come again."""
    seconds = iter(place / 16 for place in range(1000))  # 10 tokens take a sixteenth
    clock = SimpleNamespace(perf_counter=lambda: next(seconds))
    monkeypatch.setattr(under_test, "time", clock)
    async with running(replace(runner, budget=10), within=within) as batching:
        await batching.vectors([[1] * 10], None)
        waiting = asyncio.create_task(batching.vectors([[1] * 10] * rows, None))
        await asyncio.sleep(0)
        with pytest.raises(Refusal, match=shown) as late:
            await batching.vectors([[1] * 10] * rows, None)
        assert (late.value.status, late.value.retry_after) == (429, again)
        assert len(await waiting) == rows
        assert len(await batching.vectors([[1] * 10] * 2, None)) == 2


async def test_one_request_may_have_more_than_may_wait(runner: Recorded) -> None:
    """A large request enters piece by piece and leaves half the room; a second one waits."""
    async with running(replace(runner, budget=12), limit=24) as batching:
        rows = [[1 + place % 7] * 6 for place in range(30)]
        large = asyncio.create_task(batching.vectors(rows, None))
        await asyncio.sleep(0)
        assert batching.waiting == 12
        with pytest.raises(Refusal, match="12 tokens wait already, and --waiting allows 24"):
            await batching.vectors(rows, None)
        assert len(await batching.vectors([[2] * 12], None)) == 1
        assert not large.done()
        await batching.close()
        assert len(await large) == 30


async def test_a_row_may_have_more_than_may_wait(runner: Recorded) -> None:
    """A row larger than the limit enters if nothing else waits."""
    async with running(runner, limit=12) as batching:
        assert len(await batching.vectors([[1] * 13, [2] * 13], None)) == 2


async def test_who_leaves_while_fed_makes_room(runner: Recorded) -> None:
    """A caller that gives up frees its room for the next large request."""
    async with running(runner, limit=24) as batching:
        gone = asyncio.create_task(batching.vectors([[1] * 6] * 30, None))
        await asyncio.sleep(0)
        gone.cancel()
        await asyncio.wait([gone])
        assert len(await batching.vectors([[2] * 6] * 5, None)) == 5
        assert batching.waiting == 0


async def test_batches_are_counted(runner: Recorded) -> None:
    """The number of rows of every batch is reported."""
    ran: list[int] = []
    async with running(runner, ran=ran.append) as batching:
        await batching.vectors([[1] * 8] * 10, None)
    assert ran == [len(batch) for batch in runner.batches[0]] == [8, 2]


async def test_who_leaves_is_left_out(runner: Recorded) -> None:
    """Rows of a caller that has left are not run."""
    async with running(runner) as batching:
        gone = asyncio.create_task(batching.vectors([[1] * 3] * 4, None))
        await asyncio.sleep(0)
        gone.cancel()
        assert len(await batching.vectors([[2] * 5], None)) == 1
        assert batching.waiting == 0
    assert runner.batches[0] == [[5]]


async def test_a_row_that_fails_fails_alone(runner: Recorded) -> None:
    """Its neighbours in the batch are run again without the failing row."""
    async with running(runner) as batching:
        good, bad = await asyncio.gather(
            batching.vectors([[1, 2], [3, 4]], None),
            batching.vectors([[9, 9]], None),
            return_exceptions=True,
        )
        assert not isinstance(good, BaseException)
        assert len(good) == 2
        assert isinstance(bad, Refusal)
        assert (bad.status, bad.message) == (500, "the model does not run")


async def test_closing_ends_what_was_begun(runner: Recorded) -> None:
    """Rows that wait when the service closes still get their vectors."""
    async with running(runner, wait=5) as batching:
        asked = asyncio.create_task(batching.vectors([[1]] * 30, None))
        await asyncio.sleep(0)
        await batching.close()
        assert len(await asked) == 30
