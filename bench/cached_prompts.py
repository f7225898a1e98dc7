"""What it saves to compute a prompt once: short texts behind each prompt of a causal model.

Usage: python bench/cached_prompts.py MODEL_FOLDER [TURNS]
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from importlib import import_module
from pathlib import Path

import numpy as np
from pooled_rows import medians, texts

from polybake import Embedder, bake


def main(source: Path, turns: int) -> None:
    """Print the median processor time of both graphs, and their ratio."""
    kinds = {"one text": ["a river"], "short": texts(40, 1, 3), "long": texts(10, 30, 60)}
    module = import_module("polybake.baking.bake")
    with tempfile.TemporaryDirectory() as folder:
        models = {}
        for name in ("cached", "computed"):
            path = Path(folder) / f"{name}.onnx"
            if name == "computed":
                module.cache_prefixes = lambda _source, encoder, *_: encoder
            report = bake(source, path, name="my-model")
            print(f"{name}: {report.size / 1e6:.1f} MB, {report.manifest.cached}")
            models[name] = Embedder(path)
        for prompt, text in report.manifest.contract.prompts.items():
            before = len(models["cached"].tokenize([text])[0])
            for kind, given in kinds.items():
                rows = models["cached"].tokenize(given, prompt=prompt)
                behind = statistics.mean(map(len, rows)) - before
                found = {name: one.embed(given, prompt=prompt) for name, one in models.items()}
                cached, computed = medians(models, given, turns, prompt)
                difference = np.abs(found["cached"] - found["computed"]).max()
                print(
                    f"{prompt}, {before} tokens, {kind} behind it, {behind:.0f} tokens: "
                    f"{cached:.3f} s of {computed:.3f} s, {cached / computed:.2f}; {difference:.1e}"
                )


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 5)
