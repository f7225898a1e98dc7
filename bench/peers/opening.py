"""What a start costs: a process of each peer opens its model and embeds one text, in turns.

Usage: python bench/peers/opening.py MODEL_FOLDER FLOAT32.onnx INT8.onnx [TURNS]

It starts what compare.py has installed, and reads the graph that it has exported.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

from peers import HERE, Peer, client, command, read_peers

EXPORT = HERE.parents[1] / "build" / "peers" / "export"
THREADS = 2


def start(peer: Peer, places: dict[str, Path]) -> tuple[float, float, float]:
    """Seconds until the text's vector is there; of the whole process, those of processors, and MB.

    Raises:
        SystemExit: it does not embed the text.
    """
    one = client(peer)
    begun = time.perf_counter()
    process = subprocess.Popen(
        command(peer, THREADS, places),
        cwd=one.folder,
        env=one.full_environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps({"texts": ["a river"], "calls": 1, "vectors": None}).encode())
    process.stdin.close()
    seconds = [time.perf_counter() - begun for line in process.stdout if b'"seconds"' in line]
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = status
    if status or not seconds:
        raise SystemExit(f"{peer.language}: {peer.title}: ended with {status} and no vector")
    return seconds[0], used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def main(places: dict[str, Path], turns: int) -> None:
    """Print the medians of each peer's processes."""
    # A browser's own start would be most of what it takes.
    peers = [peer for peer in read_peers() if not peer.absent and peer.language != "browser"]
    seen: dict[Peer, list[tuple[float, float, float]]] = {peer: [] for peer in peers}
    for _ in range(turns):
        for peer in peers:
            seen[peer].append(start(peer, places))
    print("| language | tool | seconds | of processors | peak, MB |\n|---|---|---|---|---|")
    for peer, found in seen.items():
        wall, worked, peak = map(statistics.median, zip(*found, strict=True))
        print(f"| {peer.language} | {peer.title} | {wall:.2f} | {worked:.2f} | {peak:.0f} |")


if __name__ == "__main__":
    given = {
        name: Path(path).resolve()
        for name, path in zip(("folder", "float32", "int8"), sys.argv[1:4], strict=True)
    }
    main(given | {"export": EXPORT}, int(sys.argv[4]) if len(sys.argv) > 4 else 5)
