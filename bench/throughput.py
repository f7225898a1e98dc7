"""Texts per second of every client, and of sentence-transformers, side by side in one run.

Usage: python bench/throughput.py MODEL.onnx CLIENTS_FOLDER [SENTENCE_TRANSFORMERS_FOLDER]

Each gets the same texts in turns; the table gives the median and the ratio to the first row.
"""

from __future__ import annotations

import random
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

from polybake.verification.harness import Harness
from polybake.verification.harness_file import Client, find_clients
from polybake.verification.protocol import Embed, Results, Start, Stop

TEXTS, ROUNDS, PATIENCE = 400, 5, 600.0


def sample(folder: Path) -> list[str]:
    """Seeded texts of lognormal length, cut from the committed prose."""
    words = " ".join(
        path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.txt"))
    ).split()
    seeded = random.Random(5)
    texts = []
    for _ in range(TEXTS):
        start = seeded.randrange(len(words) - 200)
        texts.append(" ".join(words[start : start + int(seeded.lognormvariate(2.6, 0.7)) + 1]))
    return texts


def through(client: Client, model: Path, texts: list[str]) -> Callable[[], object]:
    """One pass of a generated client, behind its harness: JSON and base64 are in the time."""
    harness = Harness(client)
    started = harness.ask(Start(model=str(model.resolve()), device="cpu"), PATIENCE)
    assert isinstance(started, Results), started

    def embed() -> None:
        assert isinstance(harness.ask(Embed(texts=tuple(texts), prompt=None), PATIENCE), Results)

    embed.stop = lambda: (harness.ask(Stop(), PATIENCE), harness.finish(PATIENCE))  # type: ignore[attr-defined]
    return embed


def sentence_transformers(folder: str, texts: list[str]) -> Callable[[], object]:
    """One pass of sentence-transformers on PyTorch."""
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(folder, device="cpu")
    return lambda: model.encode(texts, show_progress_bar=False)


def main(model: Path, clients: Path, oracle: str | None) -> None:
    """Warm up, then time every one in turns."""
    texts = sample(Path(__file__).parents[1] / "fixtures/texts")
    passes = {client.language: through(client, model, texts) for client in find_clients(clients)}
    if oracle:
        passes["sentence-transformers"] = sentence_transformers(oracle, texts)
    seconds: dict[str, list[float]] = {name: [] for name in passes}
    for index in range(ROUNDS + 1):
        for name, run in passes.items():
            begin = time.perf_counter()
            run()
            if index:
                seconds[name].append(time.perf_counter() - begin)
    first = statistics.median(seconds[next(iter(seconds))])
    print(f"{TEXTS} texts, {ROUNDS} rounds in turns, median")
    for name, times in seconds.items():
        median = statistics.median(times)
        spread = (max(times) - min(times)) / median
        rate, ratio = TEXTS / median, first / median
        print(f"{name:<22} {rate:7.0f} texts/s  {ratio:5.2f} x  spread {spread:.0%}")
    for run in passes.values():
        getattr(run, "stop", lambda: None)()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3] if len(sys.argv) > 3 else None)
