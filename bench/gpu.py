"""Model files on a GPU beside sentence-transformers on PyTorch: whole calls, then graphs alone.

Usage: python bench/gpu.py MODEL_FOLDER FILE.onnx...

A whole call is from texts to vectors; the files have a client's defaults. Alone, both run the same
batches of so many tokens, which for PyTorch are on the GPU already. Medians of five rounds in
turns; the cosine is the least of a text to the first file's vector.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sentence_transformers import SentenceTransformer

from polybake import Embedder
from polybake.runtime.batching import batches
from polybake.runtime.feeds import feeds
from polybake.study.bench.turns import in_turns
from polybake.study.bench.workload import workloads

Vectors = NDArray[np.float32]
Fed = dict[str, Any]

_ROUNDS, _TIMES = 5, 8
_AT_ONCE = (32, 256, 1024)
_TOKENS = (1024, 4096, 16384)
_DTYPES = ("float32", "bfloat16", "float16")


def whole_calls(files: dict[str, Embedder], peers: dict[str, Any], texts: list[str]) -> None:
    """Print texts a second of both, with batches of several sizes for sentence-transformers."""
    ways: dict[str, Callable[[], Vectors]] = {
        f"polybake, {name}": partial(one.embed, texts) for name, one in files.items()
    }
    for name, peer in peers.items():
        for size in _AT_ONCE:
            encode = partial(peer.encode, texts, batch_size=size, show_progress_bar=False)
            ways[f"sentence-transformers, {name}, batches of {size}"] = encode
    first = of_length_1(ways[next(iter(ways))]())
    cosines = {name: (of_length_1(way()) * first).sum(1).min() for name, way in ways.items()}
    timings = in_turns({name: [way] for name, way in ways.items()}, _ROUNDS, lambda _: None)
    for name, timing in timings.items():
        speed = f"{len(texts) / timing.median:,.0f} texts/s"
        print(f"{name:<48} {speed:>16}, spread {timing.spread:.0%}, cosine {cosines[name]:.6f}")


def of_length_1(vectors: Vectors) -> NDArray[np.float64]:
    """Vectors of any dtype, normalized."""
    wide = vectors.astype(np.float64)
    normal: NDArray[np.float64] = wide / np.linalg.norm(wide, axis=1, keepdims=True)
    return normal


def graphs_alone(files: dict[str, Embedder], peers: dict[str, Any], texts: list[str]) -> None:
    """Print tokens a second, padding not counted, by the tokens of a batch."""
    first = next(iter(files.values()))
    rows = first.tokenize(texts)
    for budget in _TOKENS:
        cut = [[rows[place] for place in batch] for batch in batches(rows, budget)]
        fed = [feeds(first.manifest.contract, batch) for batch in cut]
        there = [
            {name: torch.from_numpy(array).to("cuda") for name, array in batch.items()}
            for batch in fed
        ]
        ways = {f"polybake, {name}": [partial(run, file, fed)] for name, file in files.items()}
        ways |= {f"PyTorch, {name}": [partial(forward, one, there)] for name, one in peers.items()}
        timings = in_turns(ways, _ROUNDS, lambda _: None)
        tokens = sum(map(len, rows))
        speeds = (f"{name} {tokens / at.median / 1e6:.2f}" for name, at in timings.items())
        print(f"{budget:>6} tokens a batch, million a second: {'; '.join(speeds)}")


def run(file: Embedder, batches: list[Fed]) -> None:
    """Run each batch."""
    for fed in batches:
        file.runner.session.run([file.manifest.contract.output.name], fed)


def forward(peer: Any, batches: list[Fed]) -> None:
    """Run each batch, and wait for the GPU."""
    with torch.no_grad():
        for fed in batches:
            peer(dict(fed))
    torch.cuda.synchronize()


def main(folder: str, paths: list[str]) -> None:
    """Print both tables of short and of long texts."""
    torch.backends.cuda.matmul.allow_tf32 = False
    files = {Path(path).stem: Embedder(path, device="cuda") for path in paths}
    peers = {
        name: SentenceTransformer(
            folder, device="cuda", model_kwargs={"dtype": getattr(torch, name)}
        )
        for name in _DTYPES
    }
    print(f"{torch.cuda.get_device_name()}; torch {torch.__version__}")
    for work in workloads()[:2]:
        texts = [text for text in work.texts if isinstance(text, str)] * _TIMES
        print(f"\n{len(texts):,} {work.name} texts")
        whole_calls(files, peers, texts)
        graphs_alone(files, peers, texts)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
