"""Latency by rate of arrival: requests come by themselves, however many are waiting.

Usage: python bench/service/arrivals.py MODEL.onnx PICTURE.svg NAME=URL=RATE,RATE... [--seconds 30]

A request has one to eight texts, and a connection of its own. The times between two are
exponential, with a fixed seed, and a latency begins when the request was due. Who is told 429 does
not come again.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from pathlib import Path
from random import Random

import matplotlib
from load import Seen, Service

from polybake.runtime.embedder import Embedder

matplotlib.use("svg")
from matplotlib import pyplot
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

_COLORS = ("#0369a1", "#64748b", "#b45309")
_PERCENTILES = {50: "--", 99: "-"}

#: Of a request, in the mean.
_TEXTS = 4.5


async def ask(service: Service, due: float, places: list[int], seen: Seen) -> None:
    """Send one request, over a connection of its own."""
    connection = await service.connect()
    await service.ask(connection, places, due, seen)
    connection[1].close()


async def load(service: Service, rate: float, seconds: float) -> Seen:
    """Let so many requests a second arrive for so long, and wait for their answers."""
    seen, random = Seen(), Random(0)
    due = time.perf_counter()
    end = due + seconds
    async with asyncio.TaskGroup() as asked:
        while (due := due + random.expovariate(rate)) < end:
            await asyncio.sleep(due - time.perf_counter())
            asked.create_task(ask(service, due, service.drawn(random), seen))
    return seen


def draw(found: dict[str, list[tuple[float, ...]]], file: Path) -> None:
    """Write the percentiles by texts that arrive a second, which come first in each point."""
    with pyplot.rc_context({"svg.fonttype": "none", "svg.hashsalt": "arrivals"}):
        figure, axis = pyplot.subplots(figsize=(8, 4.8))
        for color, (name, points) in zip(_COLORS, found.items(), strict=False):
            rates, *percentiles = zip(*points, strict=True)
            for (percent, style), values in zip(_PERCENTILES.items(), percentiles, strict=True):
                label = f"{name}, p{percent}"
                axis.plot(rates, values, style, color=color, marker="o", label=label)
        axis.set_xlabel("texts that arrive a second")
        axis.set_ylabel("seconds to an answer")
        axis.set_xlim(0)
        axis.set_yscale("log")
        axis.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.yaxis.set_minor_locator(NullLocator())
        axis.grid(color="#e2e8f0")
        figure.legend(frameon=False, ncols=3, loc="upper left", fontsize=9)
        axis.spines[["top", "right"]].set_visible(False)
        figure.tight_layout(rect=(0, 0, 1, 0.9))
        figure.savefig(file, metadata={"Date": None}, facecolor="white")


def main() -> None:
    """Ask each service at each of its rates."""
    parser = argparse.ArgumentParser()
    parser.add_argument("model", type=Path)
    parser.add_argument("picture", type=Path)
    parser.add_argument("services", nargs="+")
    parser.add_argument("--seconds", type=float, default=30)
    chosen = parser.parse_args()
    embedder = Embedder(chosen.model)
    found: dict[str, list[tuple[float, ...]]] = {}
    print("| service | arrive | answered | texts/s | p50 s | p99 s | 429 | errors | difference |")
    print("|---|---|---|---|---|---|---|---|---|")
    for given in chosen.services:
        name, url, rates = given.split("=")
        service = Service.of(url, embedder)
        for rate in map(float, rates.split(",")):
            started = time.perf_counter()
            seen = asyncio.run(load(service, rate, chosen.seconds))
            found.setdefault(name, []).append((rate * _TEXTS, *seen.percentiles(_PERCENTILES)))
            row = seen.table(time.perf_counter() - started)
            print(f"| {name} | {rate * _TEXTS:.0f} {row}", flush=True)
    draw(found, chosen.picture)


if __name__ == "__main__":
    main()
