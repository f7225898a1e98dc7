"""What integers cost each architecture, with and without channels that are large in every text.

Usage: python bench/int8_families.py [KIND ...], from the repository's root, which prints a table.

Real weights are at hand for MiniLM alone. These are drawn: 6 layers of 256 channels whose products
keep the sizes of what they multiply. Trained models have a few channels that are far larger than
all others in every text; here the weights of each norm are 20 to 60 times as large in three. Such a
network magnifies any change: storing its weights in float16 says how much, and stands beside.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, "tests")

from models.bake import bake
from models.folders.drawn import DRAWN, drawn_weights
from models.folders.tiny_folders import write_bert
from polybake.baking.recipe.resolve import resolve
from polybake.baking.sources import open_source
from polybake.errors import CheckFailed
from polybake.runtime.embedder import Embedder

LARGER: dict[str, Any] = {
    "hidden_size": 256,
    "dim": 256,
    "d_model": 256,
    "num_hidden_layers": 6,
    "n_layers": 6,
    "num_layers": 6,
    "intermediate_size": 768,
    "hidden_dim": 768,
    "d_ff": 768,
    "layer_types": ["full_attention", "sliding_attention"] * 3,
}
CHANNELS, FACTORS = 3, (20, 60)
TEXTS, LENGTHS = 200, (5, 60)
STEPS = [{"step": "pool", "mode": "mean"}, {"step": "normalize"}]
REDUCED: dict[str, dict[str, str]] = {
    "float32": {},
    "float16": {"storage": "float16"},
    "int8": {"precision": "int8"},
    "int4": {"precision": "int4"},
}


def weights_of(kind: str, config: dict[str, Any], *, outliers: bool) -> dict[str, Any]:
    """Drawn weights, a few channels of each norm larger where asked."""
    found = drawn_weights(kind, config)
    random = np.random.default_rng(7)
    channels = random.choice(256, CHANNELS, replace=False)
    for name, weight in found.items():
        if outliers and "norm" in name.lower() and weight.shape == (256,) and "bias" not in name:
            weight[channels] *= random.uniform(*FACTORS, CHANNELS).astype(np.float32)
    return found


def cosines(kind: str, *, outliers: bool) -> dict[str, np.ndarray]:
    """The cosine of each text's vector to float32's, by the precision of the model."""
    config = DRAWN[kind] | {"model_type": kind}
    config |= {key: value for key, value in LARGER.items() if key in config}
    random = np.random.default_rng(1)
    rows = [
        random.integers(0, config["vocab_size"], length).tolist()
        for length in random.integers(*LENGTHS, TEXTS)
    ]
    vectors = {}
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        source = open_source(
            write_bert(folder / "model", config, weights_of(kind, config, outliers=outliers))
        )
        steps = resolve(STEPS, base=folder, source=source)
        for name, settings in REDUCED.items():
            out = folder / f"{name}.onnx"
            bake(source, steps, out, name="drawn", **settings)
            vectors[name] = Embedder(out).runner.vectors(rows)
    exact = vectors.pop("float32")
    return {name: (exact * found).sum(axis=1) for name, found in vectors.items()}


def main(kinds: list[str]) -> None:
    """Print a row for each kind and each sort of channels."""
    integers = "int8: mean cosine | least | int4: mean cosine | least"
    print(f"| architecture | channels | {integers} | float16 weights: 1 - least |")
    print("|---|---|---|---|---|---|---|")
    for kind in kinds:
        for outliers in (False, True):
            sort = "three are large" if outliers else "alike"
            try:
                found = cosines(kind, outliers=outliers)
            except CheckFailed:  # float32 magnifies its own rounding beyond what a bake lets pass
                print(f"| {kind} | {sort} | refused | | | | |", flush=True)
                continue
            int8, int4, narrow = found["int8"], found["int4"], found["float16"]
            print(
                f"| {kind} | {sort} | {int8.mean():.5f} | {int8.min():.4f} "
                f"| {int4.mean():.5f} | {int4.min():.4f} | {1 - narrow.min():.0e} |",
                flush=True,
            )


if __name__ == "__main__":
    main(sys.argv[1:] or sorted(DRAWN))
