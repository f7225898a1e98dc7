"""polybake's clients and other tools side by side: the same texts, threads and vectors.

Usage: python bench/peers/compare.py MODEL_FOLDER FLOAT32.onnx INT8.onnx RESULTS.json
"""

from __future__ import annotations

import argparse
import json
import platform
import random
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from agreement import cosine, refusal
from numpy.typing import NDArray
from peers import HERE, Peer, client, command, install, read_peers
from runner import Runner

from polybake.study.bench.bench import environment
from polybake.study.bench.workload import workloads

BUILD = HERE.parents[1] / "build" / "peers"
EXPORTER = "sentence-transformers-onnx"
DIMENSIONS = 384
WORKLOADS = {workload.name: list(workload.texts) for workload in workloads()}
#: A single text is over so soon that one call says little.
CALLS = {"single": 50}


def export(folder: Path, peers: list[Peer], failed: dict[str, str]) -> Path:
    """Let Optimum write the graph that all but polybake and PyTorch run."""
    place = BUILD / "export"
    shutil.rmtree(place, ignore_errors=True)
    if reason := failed.get(EXPORTER):
        raise SystemExit(f"{EXPORTER} exports the graph for others and is not installed: {reason}")
    maker = client(next(peer for peer in peers if peer.folder == EXPORTER))
    subprocess.run(
        [maker.run[0], "export.py", str(folder), str(place)],
        cwd=maker.folder,
        env=maker.full_environment(),
        check=True,
    )
    return place


def agreement(runner: Runner, expected: dict[str, NDArray[Any]]) -> dict[str, float]:
    """Warm the peer up with every workload, and compare the vectors with the first peer's."""
    smallest = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, texts in WORKLOADS.items():
            file = Path(folder) / name
            runner.ask(texts, 1, file)
            vectors = np.fromfile(file, "<f4").reshape(len(texts), DIMENSIONS).astype("f8")
            smallest[name] = cosine(vectors, expected.setdefault(name, vectors))
    return smallest


@contextmanager
def watched(runners: list[Runner], found: dict[str, Any]) -> Iterator[None]:
    """Note the share of the machine that other programs took meanwhile."""

    def busy() -> tuple[float, float]:
        times = psutil.cpu_times()
        own = psutil.Process().cpu_times()
        idle = times.idle + getattr(times, "iowait", 0.0)
        ours = own.user + own.system + sum(runner.worked() for runner in runners)
        return sum(times) - idle - ours, sum(times)

    before, all_before = busy()
    yield
    others, everything = busy()
    found["others"] = round((others - before) / (everything - all_before), 3)


def measure(runners: dict[int, Runner], rows: list[dict[str, Any]], rounds: int) -> None:
    """Time every peer in turns, in another order each round, so that none has the quiet minutes."""
    for index in range(rounds):
        for name, texts in WORKLOADS.items():
            for row in random.Random(f"{index} {name}").sample(sorted(runners), len(runners)):
                runners[row].ask(WORKLOADS["single"], 1)  # wakes threads and caches
                seconds = runners[row].ask(texts, CALLS.get(name, 1))
                rows[row]["seconds"].setdefault(name, []).append(float(np.median(seconds)))
        print(f"round {index + 1} of {rounds}", flush=True)


def machine(threads: int) -> dict[str, Any]:
    """What the times belong to."""
    return {
        "cpu": environment().cpu,
        "processors": psutil.cpu_count(),
        "threads": threads,
        "system": f"{platform.system()} {platform.machine()}",
    }


def compare(places: dict[str, Path], threads: int, rounds: int, only: str) -> dict[str, Any]:
    """Install, start, compare and time the peers of peers.toml."""
    known = read_peers()
    peers = [peer for peer in known if re.match(only, f"{peer.language}: {peer.title}")]
    failed = install([*peers, *(peer for peer in known if peer.folder == EXPORTER)])
    places = places | {"export": export(places["folder"], known, failed)}
    rows: list[dict[str, Any]] = []
    runners: dict[int, Runner] = {}
    expected: dict[str, NDArray[Any]] = {}
    found: dict[str, Any] = {
        "machine": machine(threads),
        "measured": f"{datetime.now(UTC):%Y-%m-%d}",
        "texts": {name: len(texts) for name, texts in WORKLOADS.items()},
        "rounds": rounds,
        "peers": rows,
    }
    with ExitStack() as running:
        for number, peer in enumerate(peers):
            row = {"title": peer.title, "language": peer.language, "precision": peer.precision}
            rows.append(row | {"seconds": {}})
            if missing := peer.absent or failed.get(peer.folder, ""):
                rows[-1]["left_out"] = f"not installed: {missing}"
                continue
            runner = start(peer, threads, places, BUILD / f"{number}-{peer.folder}.log")
            running.callback(runner.finish)
            smallest = agreement(runner, expected)
            rows[-1] |= {"versions": runner.versions, "idle": runner.idle, "cosine": smallest}
            print(f"{peer.language}: {peer.title}: {smallest}, idle {runner.idle:.0%}", flush=True)
            if reason := refusal(peer.precision, smallest):
                rows[-1]["left_out"] = reason
                runner.finish()
            else:
                runners[number] = runner
        with watched(list(runners.values()), found):
            measure(runners, rows, rounds)
        for number, runner in runners.items():
            rows[number]["peak"] = runner.peak()
    return found


def start(peer: Peer, threads: int, places: dict[str, Path], log: Path) -> Runner:
    """Start the peer's program, whose words go to a file."""
    one = client(peer)
    return Runner(command(peer, threads, places), one.folder, one.full_environment(), log)


def main() -> None:
    """Write the results, from which report.py makes the tables and the plot."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("float32", type=Path)
    parser.add_argument("int8", type=Path)
    parser.add_argument("results", type=Path)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--every", type=int, default=1, help="take every n-th text, for a trial")
    parser.add_argument(
        "--only",
        default="",
        help="how rows begin: 'python: (polybake|OpenVINO)'; polybake is first",
    )
    given = parser.parse_args()
    WORKLOADS.update({name: texts[:: given.every] for name, texts in WORKLOADS.items()})
    places = {key: vars(given)[key].resolve() for key in ("folder", "float32", "int8")}
    found = compare(places, given.threads, given.rounds, given.only)
    given.results.parent.mkdir(parents=True, exist_ok=True)
    given.results.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
