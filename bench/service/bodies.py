"""What one wrong body costs a service: its memory, and how long its neighbours wait.

Usage: python bench/service/bodies.py MODEL.onnx [--megabytes 0.25 1 3 16]

The service is started here. Its peak is set back before each body, so that a row says what that
body added; meanwhile `/health/live` is asked again and again. Linux alone has both numbers.
"""

from __future__ import annotations

import argparse
import http.client
import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from polybake.base.modelfile.container import read_head

#: What is repeated between the ends of a body, by name.
REPEATED = {
    "objects": "{}",
    "nulls": "null",
    "zeros": "0",
    "rows": "[0]",
    "lists": "[]",
    "short texts": '"a"',
    "nesting": "",
    "words": "word ",
}


def body(name: str, size: int, key: str, model: str) -> bytes:
    """A request of about so many bytes."""
    one = REPEATED[name]
    head = f'{{"model":"{model}","{key}":' if key == "input" else f'{{"truncate":false,"{key}":'
    if name == "words":
        return f'{head}"{one * (size // len(one))}"}}'.encode()
    if not one:
        return (head + "[" * (size // 2) + "]" * (size // 2) + "}").encode()
    return (head + "[" + ",".join([one] * (size // (len(one) + 1))) + "]}").encode()


@dataclass
class Watched:
    """The longest wait of ``/health/live``, in seconds, until it is told to stop."""

    url: str
    longest: float = 0.0
    over: threading.Event = field(default_factory=threading.Event)

    def watch(self) -> None:
        """Ask again and again, over one connection."""
        connection = http.client.HTTPConnection(urlsplit(self.url).netloc, timeout=120)
        while not self.over.is_set():
            started = time.perf_counter()
            connection.request("GET", "/health/live")
            connection.getresponse().read()
            self.longest = max(self.longest, time.perf_counter() - started)
            time.sleep(0.005)
        connection.close()


@contextmanager
def watched(url: str) -> Iterator[Watched]:
    """Watch for as long as the block lasts."""
    seen = Watched(url)
    thread = threading.Thread(target=seen.watch)
    thread.start()
    try:
        yield seen
    finally:
        time.sleep(0.1)
        seen.over.set()
        thread.join()


def resident(pid: int, name: str) -> float:
    """A number of the process's memory, in megabytes."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name)) / 1024


def main() -> None:
    """Send each body once, and print a table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("model", type=Path)
    parser.add_argument("--megabytes", type=float, nargs="+", default=[0.25, 1, 3, 16])
    parser.add_argument("--bodies", nargs="+", default=list(REPEATED))
    chosen = parser.parse_args()
    command = [sys.executable, "-m", "polybake.cli.main", "serve", str(chosen.model), "--port", "0"]
    service = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert service.stderr is not None
    url = next(json.loads(line)["listening"] for line in service.stderr if "listening" in line)
    threading.Thread(target=service.stderr.read, daemon=True).start()
    model = read_head(chosen.model).manifest.name
    print("| path | body | MB | status | MB added | longest wait of /health/live, s |")
    print("|---|---|---|---|---|---|")
    for path, key in (("/v1/embeddings", "input"), ("/embed", "inputs")):
        for name in chosen.bodies:
            for megabytes in chosen.megabytes:
                sent = body(name, int(megabytes * 1e6), key, model)
                Path(f"/proc/{service.pid}/clear_refs").write_text("5")
                before = resident(service.pid, "VmRSS")
                connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=300)
                with watched(url) as seen:
                    connection.request(
                        "POST", path, sent, headers={"Content-Type": "application/json"}
                    )
                    status = connection.getresponse().status
                connection.close()
                added = resident(service.pid, "VmHWM") - before
                print(
                    f"| {path} | {name} | {megabytes:g} | {status} | {added:.0f} "
                    f"| {seen.longest:.2f} |",
                    flush=True,
                )
    service.terminate()
    service.wait(60)


if __name__ == "__main__":
    main()
