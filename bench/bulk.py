"""What a million texts cost, in hours of one core.

Usage: python bench/bulk.py [--rounds N] MODEL.onnx ..., after pip install ".[bake,ray]".

Prints tokens a second of ``polybake embed --threads 1``, beside one and two workers of Ray, each
with a file of its own. All are timed in turns, and the median counts; to open the model is not in
the time. What a hundred million texts take is reckoned by the processor time of the first, which
others on the machine change little.
"""

from __future__ import annotations

import os

os.environ["RAY_USAGE_STATS_ENABLED"] = "0"  # before Ray is imported

import argparse
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from importlib import resources
from pathlib import Path

import ray
from rich.console import Console

import polybake
from polybake.base.texts import open_corpus
from polybake.bulk.embed.embed import embed
from polybake.bulk.embed.model_file import OneCore
from polybake.ray import embed_files
from polybake.runtime.prompt import Prompt

#: Tokens of a text, two of them special, and texts of a file.
LENGTHS = {32: 300, 128: 75}
MILLIONS = 100


def write_texts(file: Path, tokens: int, count: int) -> Path:
    """Words that are one token in most vocabularies."""
    words = resources.files("polybake.study.bench").joinpath("words.txt").read_text("ascii").split()
    seeded = random.Random(5)
    lines = (" ".join(seeded.choices(words, k=tokens - 2)) for _ in range(count))
    file.write_text("\n".join(lines), encoding="ascii")
    return file


def alone(model: Path, files: list[Path], out: Path) -> None:
    """Embed as ``polybake embed --threads 1`` does."""
    for file in files:
        embed(
            model,
            open_corpus(file),
            out / f"{file.stem}.parquet",
            prompt=Prompt(),
            machine=OneCore(),
            force=True,
            console=Console(quiet=True),
        )


def on_ray(model: Path, files: list[Path], out: Path) -> None:
    """A task a file; one that is there would be left alone."""
    for file in files:
        (out / f"{file.stem}.parquet").unlink(missing_ok=True)
    embed_files(files, out, model)


FORMS: dict[str, tuple[int, Callable[[Path, list[Path], Path], None]]] = {
    "polybake embed --threads 1": (1, alone),
    "Ray, 1 worker": (1, on_ray),
    "Ray, 2 workers": (2, on_ray),
}


def measure(model: Path, folder: Path, length: int, count: int, rounds: int) -> None:
    """Print the rates of one model and length."""
    files = [write_texts(folder / f"{number}.txt", length, count) for number in range(2)]
    texts = files[0].read_text("ascii").splitlines()
    tokens = sum(map(len, polybake.Embedder(model).tokenize(texts)))
    rates: dict[str, list[float]] = {form: [] for form in FORMS}
    core: list[float] = []
    for turn in range(rounds + 1):  # the first opens models
        for form, (workers, run) in FORMS.items():
            begin, used = time.perf_counter(), time.process_time()
            run(model, files[:workers], folder / "out")
            if turn:
                rates[form].append(workers * tokens / (time.perf_counter() - begin))
            if turn and run is alone:
                core.append(tokens / (time.process_time() - used))
    print(f"{model.name}, {tokens / count:.0f} tokens a text")
    for form, found in rates.items():
        print(f"  {form:<27}{_readable(found)}")
    print(f"  {'a second of processor time':<27}{_readable(core)}")
    rate = statistics.median(core)
    hours = MILLIONS * 1e6 * length / rate / 3600
    print(f"  {MILLIONS}e6 * {length} / {rate:,.0f} / 3600 = {hours:,.0f} core hours", flush=True)


def _readable(rates: list[float]) -> str:
    spread = max(rates) / min(rates)
    return f"{statistics.median(rates):>8,.0f} tokens/s, fastest/slowest {spread:.2f}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("models", nargs="+", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    for path in given.models:
        for tokens_of_a_text, texts_of_a_file in LENGTHS.items():
            with tempfile.TemporaryDirectory() as name:
                measure(path, Path(name), tokens_of_a_text, texts_of_a_file, given.rounds)
