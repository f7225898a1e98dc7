"""Ends runs of graphs that may come from anywhere."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import onnxruntime as ort

#: How often the runs are checked within the time limit.
_LOOKS = 60


class TimeLimit:
    """Ends runs that take too long.

    One thread watches all runs: a thread for each run would take a tenth of a short text's time.

    Args:
        seconds: What a run may take; it is ended at the first check after that.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._ends: dict[ort.RunOptions, float] = {}
        self._watch: threading.Thread | None = None

    @contextmanager
    def options(self) -> Iterator[ort.RunOptions]:
        """Give the options of a run; their ``terminate`` says afterwards whether it was ended."""
        options = ort.RunOptions()
        self._ends[options] = time.monotonic() + self.seconds
        if self._watch is None or not self._watch.is_alive():  # a fork has no threads
            self._watch = threading.Thread(target=self._look, daemon=True)
            self._watch.start()
        try:
            yield options
        finally:
            del self._ends[options]

    def _look(self) -> None:
        while True:
            time.sleep(self.seconds / _LOOKS)
            for options, end in list(self._ends.items()):
                if end < time.monotonic():
                    options.terminate = True
