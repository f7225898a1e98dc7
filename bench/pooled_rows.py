"""What it saves to compute only the row that is pooled, with the first token's embedding.

Usage: python bench/pooled_rows.py MODEL_FOLDER [TURNS]
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from polybake import Embedder, bake
from polybake.baking.assemble import build

STEPS = [{"step": "pool", "mode": "cls"}, {"step": "normalize"}]
WORDS = ["a", "river", "runs", "through", "every", "language", "and", "bread", "is", "baked"]


def texts(count: int, least: int, most: int) -> list[str]:
    """Texts of so many words each."""
    random = np.random.default_rng(0)
    return [" ".join(random.choice(WORDS, size)) for size in random.integers(least, most, count)]


def medians(
    models: Mapping[str, Embedder], given: list[str], turns: int, prompt: str | None = None
) -> list[float]:
    """The median processor time of each model for these texts, in turns."""
    seconds: dict[str, list[float]] = {name: [] for name in models}
    for _ in range(turns):
        for name, model in models.items():
            begin = time.process_time()
            model.embed(given, prompt=prompt)
            seconds[name].append(time.process_time() - begin)
    return [statistics.median(found) for found in seconds.values()]


def main(source: Path, turns: int) -> None:
    """Print the median processor time of both graphs, and their ratio."""
    kinds = {"8 to 59 words": texts(300, 8, 60), "190 words": texts(40, 190, 191)}
    with tempfile.TemporaryDirectory() as folder:
        models = {}
        for name in ("one row", "all rows"):
            path = Path(folder) / f"{name}.onnx"
            if name == "all rows":
                build.compute_pooled_rows = lambda _model: None  # the graph as it was placed
            bake(source, path, name="my-model", steps=STEPS)
            models[name] = Embedder(path)
        for kind, given in kinds.items():
            found = {name: model.embed(given) for name, model in models.items()}
            one, every = medians(models, given, turns)
            difference = np.abs(found["one row"] - found["all rows"]).max()
            print(f"{kind:<14} {one:.2f} s of {every:.2f} s: {one / every:.3f}; {difference:.1e}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 7)
