"""Rows of many requests, joined into batches."""

import asyncio
import math
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from polybake.errors import CheckFailed
from polybake.runtime.runner import Runner
from polybake.serving.refusal import Refusal

Vectors = NDArray[Any]

#: The next batch's rows are chosen among the rows of this many batches, to match their lengths.
_AHEAD = 4

#: What is left of a batch's weight in the pace when one more has run.
_KEPT = 0.95


@dataclass(frozen=True, eq=False)
class _Row:
    ids: list[int]
    prompt: str | None
    vectors: asyncio.Future[Vectors]

    @property
    def tokens(self) -> int:
        return max(1, len(self.ids))


class RequestQueue:
    """Runs rows as they arrive; rows that wait at the same time share a batch.

    Vectors do not depend on neighbours, so rows of different requests may share a batch.
    """

    def __init__(
        self,
        runner: Runner,
        *,
        wait: float,
        limit: int,
        within: float = math.inf,
        ran: Callable[[int], None] | None = None,
    ) -> None:
        self._runner = runner
        self._wait = wait
        self._limit = limit
        self._within = within
        self._ran = ran
        self._rows: deque[_Row] = deque()
        self._arrived = asyncio.Event()
        self._left = asyncio.Event()
        self._feeding = False
        self._closing = False
        self._pool = ThreadPoolExecutor(runner.at_once)
        self._lanes = [asyncio.create_task(self._run()) for _ in range(runner.at_once)]
        self._tokens = self._seconds = 0.0
        self.waiting = 0

    async def vectors(self, rows: Sequence[list[int]], prompt: str | None) -> list[Vectors]:
        """Run rows: ``[vectors, dimension]`` of each."""
        loop = asyncio.get_running_loop()
        added = [_Row(ids, prompt, loop.create_future()) for ids in rows]
        tokens = sum(row.tokens for row in added)
        room = self._room
        large = tokens > room
        if self._feeding if large else self.waiting + tokens > room:
            raise self._overloaded(room, tokens)
        try:
            if large:
                await self._feed(added)
            else:
                self._add(added)
            return await asyncio.gather(*(row.vectors for row in added))
        finally:
            for row in added:  # of a caller who waits no longer
                row.vectors.cancel()

    @property
    def _pace(self) -> float:
        """Tokens that all batches at work end in a second; infinite before the first one ends."""
        return self._runner.at_once * self._tokens / self._seconds if self._seconds else math.inf

    @property
    def _room(self) -> int:
        """The most tokens that may wait: `limit`, or as many as are done within the seconds."""
        done = max(self._pace * self._within, self._runner.budget)
        return self._limit if done >= self._limit else int(done)

    def _overloaded(self, room: int, tokens: int) -> Refusal:
        allowed, retry_after = f"--waiting allows {self._limit}", 1
        if room < self._limit:
            allowed = f"--timeout allows {self._within:g} seconds, in which {room} are done"
            retry_after = math.ceil(max(1.0, (self.waiting + tokens - room) / self._pace))
        message = f"{self.waiting} tokens wait already, and {allowed}; ask again later"
        return Refusal("overloaded", message, retry_after=retry_after)

    def _add(self, rows: Sequence[_Row]) -> None:
        self._rows.extend(rows)
        self.waiting += sum(row.tokens for row in rows)
        self._arrived.set()

    async def _feed(self, rows: Sequence[_Row]) -> None:
        """Add rows as there is room for them, of which half is left to other callers."""
        self._feeding = True
        try:
            for row in rows:
                while self.waiting and self.waiting + row.tokens > self._room // 2:
                    self._left.clear()
                    await self._left.wait()
                self._add([row])
        finally:
            self._feeding = False
            self._arrived.set()  # whoever closes waits for the last of them

    async def close(self) -> None:
        """End, when all rows are done."""
        self._closing = True
        self._arrived.set()
        await asyncio.gather(*self._lanes)
        self._pool.shutdown()

    async def _run(self) -> None:
        while True:
            await self._arrived.wait()
            if self.waiting < self._runner.budget and not self._closing:
                await asyncio.sleep(self._wait)
            if batch := self._batch():
                await self._fill(batch)
            elif self._closing and not self._feeding:
                return
            else:
                self._arrived.clear()

    def _batch(self) -> list[_Row]:
        """Take the row that has waited longest, and the rows that are most like it in length."""
        budget, ahead, tokens = self._runner.budget, list[_Row](), 0
        while self._rows and tokens < _AHEAD * budget:
            row = self._rows.popleft()
            self.waiting -= row.tokens
            if not row.vectors.done():
                ahead.append(row)
                tokens += row.tokens
        if not ahead:
            self._left.set()
            return []
        oldest = ahead[0]
        longest, batch = 0, list[_Row]()
        for row in sorted(ahead, key=lambda row: abs(row.tokens - oldest.tokens)):
            longer = max(longest, row.tokens)
            if row.prompt != oldest.prompt or (batch and longer * (len(batch) + 1) > budget):
                continue
            longest = longer
            batch.append(row)
        members = set(batch)
        rest = [row for row in ahead if row not in members]
        self._rows.extendleft(reversed(rest))
        self.waiting += sum(row.tokens for row in rest)
        self._left.set()
        return batch

    async def _fill(self, batch: list[_Row]) -> None:
        loop = asyncio.get_running_loop()
        ids, prompt = [row.ids for row in batch], batch[0].prompt
        try:
            begun = time.perf_counter()
            answers = await loop.run_in_executor(self._pool, self._runner.of_each, ids, prompt)
            self._tokens = _KEPT * self._tokens + sum(row.tokens for row in batch)
            self._seconds = _KEPT * self._seconds + time.perf_counter() - begun
            if self._ran:
                self._ran(len(batch))
        except Exception as error:  # the next batch must run, whatever the error
            if len(batch) > 1:  # find the row at fault; the others succeed
                for row in batch:
                    await self._fill([row])
            elif not batch[0].vectors.done():
                known = isinstance(error, CheckFailed)
                batch[0].vectors.set_exception(Refusal("backend", str(error)) if known else error)
            return
        for row, vectors in zip(batch, answers, strict=True):
            if not row.vectors.done():
                row.vectors.set_result(vectors)
