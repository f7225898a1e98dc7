"""What a start costs: a process of each client opens a model file and embeds one text.

Usage: python bench/opening.py CLIENTS MODEL.onnx [TURNS]

CLIENTS is a folder of clients that ``polybake verify --prepare`` has prepared.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

from polybake.verification.harness.harness_file import read_client


def start(client: Path, model: Path) -> tuple[float, float, float]:
    """Seconds of a process, those of processors, and its peak of memory in MB.

    Raises:
        SystemExit: it does not embed the text.
    """
    settings = read_client(client)
    asked: tuple[dict[str, object], ...] = (
        {"cmd": "start", "protocol": 1, "model": str(model), "device": "cpu"},
        {"cmd": "embed", "texts": ["a river"], "prompt": None},
        {"cmd": "stop"},
    )
    lines = "".join(json.dumps({"seq": place, **one}) + "\n" for place, one in enumerate(asked))
    begun = time.perf_counter()
    process = subprocess.Popen(
        settings.run,
        cwd=client,
        env=os.environ | settings.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(lines.encode())
    process.stdin.close()
    answers = [json.loads(line) for line in process.stdout]
    _, status, used = os.wait4(process.pid, 0)
    if status or "error" in json.dumps(answers):
        raise SystemExit(f"{client}: {answers}")
    return time.perf_counter() - begun, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def main(clients: Path, model: Path, turns: int) -> None:
    """Print the medians of each client's processes, which are started in turns."""
    folders = sorted(folder for folder in clients.iterdir() if (folder / "harness.json").is_file())
    seen: dict[Path, list[tuple[float, float, float]]] = {folder: [] for folder in folders}
    for _ in range(turns):
        for folder in folders:
            seen[folder].append(start(folder, model.resolve()))
    print("| client | seconds | of processors | peak, MB |\n|---|---|---|---|")
    for folder, found in seen.items():
        wall, worked, peak = map(statistics.median, zip(*found, strict=True))
        print(f"| {folder.name} | {wall:.2f} | {worked:.2f} | {peak:.0f} |")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 5)
