"""A peer's process, with those that it starts: stopped as a whole, except while it is asked."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any, cast

import psutil

#: Seconds in which a process that was just loaded shows whether it works while nobody asks.
_IDLE_SECONDS = 2.0
#: Processor seconds that threads may take on their way to a stop.
_STOPPING = 0.05


class Runner:
    """One process, or a browser's many. Whatever they would do, they do not while others are timed.

    Attributes:
        versions: Of the packages that it runs.
        idle: Share of one processor that it takes when it is not stopped and nobody asks.
    """

    def __init__(
        self, command: Sequence[str], folder: Path, environment: dict[str, str], log: Path
    ) -> None:
        self._log = log
        with log.open("wb") as errors:
            self._process = subprocess.Popen(
                command,
                cwd=folder,
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
            )
        self._seen = psutil.Process(self._process.pid)
        self.versions: dict[str, str] = self._answer()["versions"]
        before = self.worked()
        time.sleep(_IDLE_SECONDS)
        self.idle = (self.worked() - before) / _IDLE_SECONDS
        self._pause()

    def ask(self, texts: Sequence[str], calls: int, vectors: Path | None = None) -> list[float]:
        """Seconds of each call, measured by the process itself around that call alone.

        Raises:
            RuntimeError: the process ended, or it worked while it was stopped.
        """
        if self.worked() > self._paused_at + _STOPPING:
            raise RuntimeError(f"{self._log.stem} worked while others were timed")
        self._resume()
        request = {"texts": texts, "calls": calls, "vectors": vectors and str(vectors)}
        stdin = cast(IO[bytes], self._process.stdin)
        stdin.write(json.dumps(request).encode() + b"\n")
        stdin.flush()
        seconds: list[float] = self._answer()["seconds"]
        self._pause()
        return seconds

    def worked(self) -> float:
        """Seconds of processor time that the process has taken since its start."""
        times = [process.cpu_times() for process in self._processes()]
        return float(sum(time.user + time.system for time in times))

    def peak(self) -> int:
        """The most memory that the process had so far, in MiB; of many, that of the largest."""
        return max(_peak(process.pid) for process in self._processes()) // 1024

    def finish(self) -> None:
        """Let the process see that nothing more is asked, and end; once is enough."""
        if self._process.poll() is not None:
            return
        self._resume()
        cast(IO[bytes], self._process.stdin).close()
        try:
            self._process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            self._process.kill()

    def _processes(self) -> list[psutil.Process]:
        """It and what it started, but for zombies, which nothing stops."""
        found = [self._seen, *self._seen.children(recursive=True)]
        return [process for process in found if process.status() != psutil.STATUS_ZOMBIE]

    def _resume(self) -> None:
        for process in self._processes():
            process.resume()

    def _pause(self) -> None:
        for process in self._processes():
            process.suspend()
        while any(process.status() != psutil.STATUS_STOPPED for process in self._processes()):
            os.sched_yield()
        self._paused_at = self.worked()

    def _answer(self) -> dict[str, Any]:
        """The next line that is an answer; libraries print others."""
        for line in cast(IO[bytes], self._process.stdout):
            if line.startswith(b"{"):
                return cast(dict[str, Any], json.loads(line))
        raise RuntimeError(f"{self._log.stem} ended; its last words are in {self._log}")


def _peak(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return int(status.partition("VmHWM:")[2].split()[0])
