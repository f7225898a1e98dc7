"""What several processes that run one model hold each, and what they share.

Usage: python bench/shared_weights.py MODEL.onnx [PROCESSES]

Three ways on Linux: each opens the file; each is forked from one that has opened it, on one thread;
each opens a graph that ONNX Runtime has written anew, its weights packed for this processor in a
file of their own, which is mapped.
"""

from __future__ import annotations

import multiprocessing
import sys
import tempfile
from multiprocessing.synchronize import Barrier
from pathlib import Path

import numpy as np
import onnxruntime as ort

_PATIENCE = 60.0


def options() -> ort.SessionOptions:
    """One thread: a fork has no other."""
    chosen = ort.SessionOptions()
    chosen.intra_op_num_threads = 1
    chosen.log_severity_level = 3
    return chosen


def opened(model: Path) -> ort.InferenceSession:
    """A session that has run."""
    session = ort.InferenceSession(str(model), options(), providers=["CPUExecutionProvider"])
    ran(session)
    return session


def ran(session: ort.InferenceSession) -> None:
    """Run eight rows of forty tokens."""
    ones = np.ones((8, 40), np.int64)
    feeds = {
        one.name: ones * (one.name == "input_ids" or "mask" in one.name)
        for one in session.get_inputs()
    }
    session.run(None, feeds)


def packed(model: Path, folder: Path) -> Path:
    """Let ONNX Runtime write the graph for this processor."""
    chosen, out = options(), folder / "packed.onnx"
    chosen.optimized_model_filepath = str(out)
    for entry, value in (
        ("session.optimized_model_external_initializers_file_name", "packed.bin"),
        ("session.optimized_model_external_initializers_min_size_in_bytes", "1024"),
        ("session.save_external_prepacked_constant_initializers", "1"),
    ):
        chosen.add_session_config_entry(entry, value)
    ort.InferenceSession(str(model), chosen, providers=["CPUExecutionProvider"])
    return out


def held() -> dict[str, int]:
    """MB of this process alone, and of those that it shares."""
    lines = Path("/proc/self/smaps_rollup").read_text(encoding="ascii").splitlines()[1:]
    kilobytes = {line.split()[0]: int(line.split()[1]) for line in lines}
    private = kilobytes["Private_Dirty:"] + kilobytes["Private_Clean:"]
    return {"own": private // 1000, "all": kilobytes["Rss:"] // 1000}


def look(
    model: Path | ort.InferenceSession,
    together: Barrier,
    found: multiprocessing.SimpleQueue[dict[str, int]],
) -> None:
    """Open a model in a process of its own, or take the parent's, and measure while all do."""
    session = opened(model) if isinstance(model, Path) else model
    ran(session)
    together.wait(_PATIENCE)
    found.put(held())
    together.wait(_PATIENCE)


def measured(model: Path | ort.InferenceSession, processes: int) -> dict[str, int]:
    """The largest of several processes at once."""
    context = multiprocessing.get_context("spawn" if isinstance(model, Path) else "fork")
    together, found = context.Barrier(processes), context.SimpleQueue()
    started = [
        context.Process(target=look, args=(model, together, found)) for _ in range(processes)
    ]
    for process in started:
        process.start()
    figures = [found.get() for _ in started]
    for process in started:
        process.join()
    return max(figures, key=lambda one: one["own"])


def main(model: Path, processes: int) -> None:
    """Print a row for each way."""
    with tempfile.TemporaryDirectory() as folder:
        print(f"{'opened by each':<28}", measured(model, processes))
        print(f"{'packed and mapped':<28}", measured(packed(model, Path(folder)), processes))
    print(f"{'forked, on one thread':<28}", measured(opened(model), processes))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if sys.argv[2:] else 4)
