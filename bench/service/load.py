"""Many callers of ``/v1/embeddings`` at once, each answer compared with the model file's own.

Usage: python bench/service/load.py MODEL.onnx URL... [--connections 200] [--seconds 60]

Services are asked in turns. Every caller keeps its connection, and asks for one to eight texts at a
time; one that is told 429 waits as long as it is told.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import json
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, Self
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from polybake.runtime.embedder import Embedder
from polybake.study.bench.workload import workloads

Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@dataclass
class Seen:
    """What callers saw of a service.

    Attributes:
        seconds: Of each request that was answered.
        texts: That came back.
        statuses: How often each came.
        difference: The largest of one element.
    """

    seconds: list[float] = field(default_factory=list)
    texts: int = 0
    statuses: Counter[int] = field(default_factory=Counter)
    difference: float = 0.0

    def percentiles(self, percents: Iterable[int]) -> list[float]:
        """Of the seconds, NaN without an answer."""
        return [float(np.percentile(self.seconds or [np.nan], percent)) for percent in percents]

    def table(self, during: float) -> str:
        """A row of the table."""
        p50, p99 = self.percentiles([50, 99])
        others = sum(n for status, n in self.statuses.items() if status not in (200, 429))
        return (
            f"| {self.statuses[200]:,} | {self.texts / during:,.0f} | {p50:.3f} | {p99:.3f} "
            f"| {self.statuses[429]:,} | {others} | {self.difference:.1e} |"
        )


async def request(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, host: str, body: bytes
) -> tuple[int, dict[str, str], bytes]:
    """One request over a connection that stays open: status, headers, body."""
    head = f"POST /v1/embeddings HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
    writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
    await writer.drain()
    first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
    pairs = (line.partition(": ") for line in lines if line)
    headers = {name.lower(): value for name, _, value in pairs}
    return (
        int(first.split()[1]),
        headers,
        await reader.readexactly(int(headers["content-length"])),
    )


@dataclass(frozen=True)
class Service:
    """A service, what it is asked, and the vectors that it should give."""

    url: str
    model: str
    texts: list[str]
    expected: NDArray[Any]

    @classmethod
    def of(cls, url: str, embedder: Embedder) -> Self:
        """Ask for a thousand texts of all lengths."""
        texts = sorted({text for one in workloads() for text in one.texts if isinstance(text, str)})
        return cls(url, embedder.manifest.name, texts[:1000], embedder.embed(texts[:1000]))

    async def connect(self) -> Connection:
        """Open a connection."""
        parts = urlsplit(self.url)
        return await asyncio.open_connection(parts.hostname, parts.port)

    def drawn(self, random: Random) -> list[int]:
        """The places of the texts of a request."""
        return random.sample(range(len(self.texts)), random.randint(1, 8))

    async def ask(
        self, connection: Connection, places: list[int], started: float, seen: Seen
    ) -> tuple[int, dict[str, str]]:
        """Send one request, and compare what comes back; its status and headers."""
        asked = {
            "model": self.model,
            "input": [self.texts[place] for place in places],
            "encoding_format": "base64",
        }
        host = urlsplit(self.url).netloc
        status, headers, answer = await request(*connection, host, json.dumps(asked).encode())
        seen.statuses[status] += 1
        if status == 200:
            seen.seconds.append(time.perf_counter() - started)
            seen.texts += len(places)
            found = [
                np.frombuffer(base64.b64decode(one["embedding"]), "<f4")
                for one in json.loads(answer)["data"]
            ]
            difference = float(np.abs(np.array(found) - self.expected[places]).max())
            seen.difference = max(seen.difference, difference)
        return status, headers


async def caller(service: Service, end: float, seed: int, seen: Seen) -> None:
    """Ask one request after another until the time is over."""
    random = Random(seed)
    connection = await service.connect()
    while time.perf_counter() < end:
        places = service.drawn(random)
        status, headers = await service.ask(connection, places, time.perf_counter(), seen)
        if status == 429:
            await asyncio.sleep(float(headers["retry-after"]))
    connection[1].close()


async def load(service: Service, connections: int, seconds: float) -> Seen:
    """Ask with so many connections for so long."""
    seen = Seen()
    end = time.perf_counter() + seconds
    await asyncio.gather(*(caller(service, end, seed, seen) for seed in range(connections)))
    return seen


def main() -> None:
    """Ask services in turns."""
    parser = argparse.ArgumentParser()
    parser.add_argument("model", type=Path)
    parser.add_argument("urls", nargs="+")
    parser.add_argument("--connections", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--rounds", type=int, default=1)
    chosen = parser.parse_args()
    embedder = Embedder(chosen.model)
    services = [Service.of(url, embedder) for url in chosen.urls]
    print("| service | requests | texts/s | p50 s | p99 s | 429 | errors | largest difference |")
    print("|---|---|---|---|---|---|---|---|")
    for _ in range(chosen.rounds):
        for service in services:
            started = time.perf_counter()
            seen = asyncio.run(load(service, chosen.connections, chosen.seconds))
            print(f"| {service.url} {seen.table(time.perf_counter() - started)}", flush=True)


if __name__ == "__main__":
    main()
