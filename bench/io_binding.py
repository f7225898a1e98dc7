"""Whether binding inputs and outputs to a device saves time: each size of a batch, both ways.

Usage: python bench/io_binding.py MODEL.onnx [cuda|cpu]

Bound, the vectors stay in the device's memory until they are copied, and the session needs no array
of its own for them. Ratios above 1 are what binding gains; medians of 21 runs in turns.
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from polybake.runtime.embedder import Embedder
from polybake.runtime.feeds import feeds
from polybake.study.bench.turns import in_turns

_LENGTH = 64
_TOKENS = tuple(512 << power for power in range(8))
_RUNS = 21


def plain(embedder: Embedder, fed: dict[str, NDArray[np.int64]]) -> NDArray[np.float32]:
    """Run as the clients do."""
    found: list[NDArray[np.float32]] = embedder.runner.session.run(
        [embedder.manifest.contract.output.name], fed
    )
    return found[0]


def bound(
    embedder: Embedder, fed: dict[str, NDArray[np.int64]], device: str
) -> NDArray[np.float32]:
    """Run with inputs and the output bound to the device."""
    from onnxruntime import OrtValue  # polybake comes first, which declines its telemetry

    session = embedder.runner.session
    binding = session.io_binding()
    for name, array in fed.items():
        binding.bind_ortvalue_input(name, OrtValue.ortvalue_from_numpy(array, device, 0))
    binding.bind_output(embedder.manifest.contract.output.name, device, 0)
    session.run_with_iobinding(binding)
    found: list[NDArray[np.float32]] = binding.copy_outputs_to_cpu()
    return found[0]


def main(model: Path, device: str) -> None:
    """Print a row for each size."""
    embedder = Embedder(model, device=device)
    contract = embedder.manifest.contract
    print(f"{'tokens':>7} {'plain':>9} {'bound':>9} {'gain':>6}")
    for tokens in _TOKENS:
        shape = tokens // _LENGTH, _LENGTH
        rows = np.random.default_rng(0).integers(0, contract.vocab_size, shape).tolist()
        fed = feeds(contract, rows)
        ways = partial(plain, embedder, fed), partial(bound, embedder, fed, device)
        np.testing.assert_array_equal(*(way() for way in ways))
        timings = in_turns({way: [way] for way in ways}, _RUNS, lambda _: None)
        one, other = (timings[way].median for way in ways)
        print(f"{tokens:>7} {one * 1e3:>6.1f} ms {other * 1e3:>6.1f} ms {one / other:>6.2f}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2] if sys.argv[2:] else "cuda")
