"""What a bake costs: wall time and peak memory, beside what imports and weights alone cost.

Usage: python bench/bake_cost.py MODEL_FOLDER [RUNS]
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

IMPORTS = (
    "import polybake.baking.bake;"
    "import onnx, onnxscript, onnxruntime, tokenizers, safetensors.numpy"
)
CHILD = """
import json, resource, subprocess, sys, time
begin = time.perf_counter()
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
seconds = time.perf_counter() - begin
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
print(json.dumps([seconds, peak]))
"""


def measured(*command: str) -> tuple[float, float]:
    """Wall seconds and peak resident MiB of one command, in a process of its own."""
    printed = subprocess.run(
        [sys.executable, "-c", CHILD, *command], stdout=subprocess.PIPE, text=True, check=True
    ).stdout
    seconds, peak = json.loads(printed)
    return seconds, peak


def row(name: str, runs: list[tuple[float, float]]) -> tuple[float, float]:
    """Print and return the median time and the largest peak."""
    seconds = statistics.median(run[0] for run in runs)
    peak = max(run[1] for run in runs)
    print(f"{name:<18} {seconds:6.2f} s   {peak:7.0f} MiB")
    return seconds, peak


def main(model: Path, runs: int) -> None:
    """Measure in turns, so that a slow minute of the machine meets every row."""
    polybake = [sys.executable, "-m", "polybake.cli.main"]
    weights = sum(file.stat().st_size for file in model.glob("*.safetensors")) / 2**20
    commands = {
        "polybake --help": [*polybake, "--help"],
        "imports alone": [sys.executable, "-c", IMPORTS],
    }
    with tempfile.TemporaryDirectory() as folder:
        out = str(Path(folder) / "model.onnx")
        commands["polybake bake"] = [*polybake, "bake", str(model), "--name", "m1", "--output", out]
        found: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
        for _ in range(runs):
            for name, command in commands.items():
                found[name].append(measured(*command))
    print(f"weights            {weights:18.0f} MiB; {runs} runs, median time, largest peak")
    rows = {name: row(name, measurements) for name, measurements in found.items()}
    imports, bake = rows["imports alone"], rows["polybake bake"]
    print(f"bake / imports     {bake[0] / imports[0]:6.2f} x")
    print(f"(peak - imports' peak) / weights: {(bake[1] - imports[1]) / weights:.2f} x")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 5)
