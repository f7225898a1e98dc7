"""``polybake serve`` as a process of its own."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Service:
    """A process that listens.

    Attributes:
        process: The process of the command.
        url: Where it listens.
        log: Its lines.
    """

    process: subprocess.Popen[str]
    url: str = ""
    log: list[str] = field(default_factory=list)

    def ended(self, number: int) -> int:
        """Send a signal, and wait for its exit code."""
        self.process.send_signal(number)
        return self.process.wait(30)


@contextmanager
def served(*arguments: object, port: int = 0, **settings: str) -> Iterator[Service]:
    """A service that takes requests, which ends with the block."""
    command = [sys.executable, "-m", "polybake.cli.main", "serve", *map(str, arguments)]
    process = subprocess.Popen(
        [*command, "--port", str(port)],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **settings},
    )
    service = Service(process)
    assert process.stderr is not None
    with process, process.stderr as lines:
        try:
            for line in lines:
                service.log.append(line)
                if "listening" in line:
                    service.url = json.loads(line)["listening"]
                    break
            assert service.url, "".join(service.log)
            threading.Thread(target=lambda: service.log.extend(lines), daemon=True).start()
            yield service
        finally:
            process.kill()


def key_file(path: Path, *keys: str) -> Path:
    """A file of keys."""
    path.write_text("".join(f"{key}\n" for key in keys))
    return path
