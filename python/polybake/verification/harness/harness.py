"""A running harness: a process group that gets requests and answers them in time, or is killed."""

import contextlib
import queue
import signal
import subprocess
import tempfile
import threading
from typing import IO, cast

from polybake.verification.harness.harness_file import Client
from polybake.verification.harness.process import kill_group, last_lines, spawn
from polybake.verification.harness.protocol import Answer, Request, encode_request, parse_answer
from polybake.verification.verdict import HarnessError, Status

#: The most bytes of a line; a longer line is cut, so that it is not JSON.
LONGEST_LINE = 1 << 28

_EXIT_SECONDS = 5.0


class Harness:
    """A process of a client's harness, in the client's folder.

    Separate threads read and write, so that a harness that never answers or never reads cannot
    block the caller.
    """

    def __init__(self, client: Client) -> None:
        """Start the process."""
        self._seq = 0
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - closed by kill
        try:
            self._process = spawn(
                client,
                client.run,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._stderr,
            )
        except HarnessError:
            self._stderr.close()
            raise
        stdin = cast(IO[bytes], self._process.stdin)
        stdout = cast(IO[bytes], self._process.stdout)
        self._requests: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._threads = (
            threading.Thread(target=_write, args=(stdin, self._requests)),
            threading.Thread(target=_read, args=(stdout, self._lines)),
        )
        for thread in self._threads:
            thread.daemon = True
            thread.start()

    def ask(self, request: Request, seconds: float) -> Answer:
        """Send a request and wait for its answer. After an error the harness is dead."""
        seq, self._seq = self._seq, self._seq + 1
        self._requests.put(encode_request(request.model_copy(update={"seq": seq})))
        try:
            line = self._lines.get(timeout=seconds)
        except queue.Empty:
            raise self._dead(Status.TIMEOUT, f"no answer in {seconds:g} s") from None
        if line is None:
            raise self._dead(Status.CRASH, self._how_it_ended())
        try:
            return parse_answer(line, seq)
        except ValueError as error:
            raise self._dead(Status.ERROR, str(error)) from error

    def finish(self, seconds: float) -> None:
        """Wait for the end that ``stop`` asked for."""
        self._requests.put(None)
        try:
            line = self._lines.get(timeout=seconds)
            code = self._process.wait(timeout=seconds)
        except (queue.Empty, subprocess.TimeoutExpired):
            raise self._dead(Status.TIMEOUT, f"still running {seconds:g} s after stop") from None
        if line is not None:
            raise self._dead(Status.ERROR, "wrote a line that nothing asked for")
        if code != 0:
            raise self._dead(Status.CRASH, self._how_it_ended())
        self.kill()

    def kill(self) -> None:
        """End the whole process group and free its resources; further calls do nothing."""
        if self._stderr.closed:
            return
        kill_group(self._process)
        self._requests.put(None)
        for thread in self._threads:
            thread.join(timeout=_EXIT_SECONDS)
        self._stderr.close()

    def _dead(self, status: Status, message: str) -> HarnessError:
        """Kill the harness; return an error with the message and the end of standard error."""
        last = last_lines(self._stderr)
        self.kill()
        return HarnessError(status, f"{message}; standard error: {last}" if last else message)

    def _how_it_ended(self) -> str:
        try:
            code = self._process.wait(timeout=_EXIT_SECONDS)
        except subprocess.TimeoutExpired:
            return "closed its standard output"
        if code < 0:
            return f"ended by signal {-code} ({signal.strsignal(-code)})"
        return f"ended with exit code {code}"


def _write(stdin: IO[bytes], requests: queue.SimpleQueue[bytes | None]) -> None:
    """Pass requests on until None; the reading thread notices if the harness has ended."""
    with contextlib.suppress(OSError), stdin:
        while (line := requests.get()) is not None:
            stdin.write(line)
            stdin.flush()


def _read(stdout: IO[bytes], lines: queue.SimpleQueue[bytes | None]) -> None:
    """Collect lines until the end of the stream, which is None."""
    with stdout:
        while line := stdout.readline(LONGEST_LINE):
            lines.put(line)
    lines.put(None)
