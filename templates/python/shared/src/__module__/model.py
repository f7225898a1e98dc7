"""A model file, opened: what the clients of every task do."""

import os
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from typing import Any, Self

import numpy as np

from .arguments import checked_rows, checked_texts
from .contract import CONTRACT, DIMENSION, MAX_LENGTH
from .errors import ClosedError, DeviceError, ModelError
from .graph import PROVIDERS, processors
from .modelfile import Head, check_tail, read_head
from .outputs import Results, empty
from .self_check import check_cases
from .session import Session

#: Texts in memory at a time, as token ids and as results of at most 64 MiB.
WINDOW: int = max(
    1, min(8192, 2**24 // (DIMENSION * (MAX_LENGTH if CONTRACT["output"]["counts"] else 1)))
)


class Model:
    """A model file, opened. Threads may share it, and a child of a fork may use its parent's."""

    _noun = "model"

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        device: str = "cpu",
        threads: int | None = None,
        concurrency: int | None = None,
    ) -> None:
        """Open a model file.

        Args:
            path: the baked ``.onnx`` file.
            device: ``cpu`` or ``cuda``; there is no fall-back from one to the other.
            threads: those within one operator. By default one a physical core, or as many as a
                container, a control group or an affinity mask lets the process use.
            concurrency: batches of one call that run side by side, each on ``threads`` threads. By
                default as many as fill the processors; on ``cuda`` one.

        Raises:
            ModelError: the file is missing, damaged, or has another contract.
            DeviceError: the device is not there.
            ValueError: more threads than processors, or none.
        """
        if device not in PROVIDERS:
            known = ", ".join(PROVIDERS)
            raise DeviceError(f'unknown device "{device!s:.80}"; choose one of: {known}')
        allowed = processors()
        counts = {"threads": threads, "concurrency": concurrency}
        for name, count in counts.items():
            if count is not None and count not in range(1, allowed + 1):
                expected = f"expected 1 to {allowed}, the processors that this process may use"
                raise ValueError(f"{name} is {count!r:.80}; {expected}")
        filling = 1 if device == "cuda" else allowed // (threads or 1)
        whole = allowed == os.cpu_count()
        self._given: dict[str, Any] = {"device": device, **counts}
        self._options = device, threads or (0 if whole else allowed), concurrency or filling
        head = read_head(os.fspath(path))
        self._path, self._manifest = os.path.abspath(path), head.manifest
        #: The process that opened the session, which is None once it is closed.
        self._opened: tuple[int, Session | None] = os.getpid(), Session(head, *self._options)

    @property
    def name(self) -> str:
        """The model's name."""
        return str(self._manifest["name"])

    @property
    def fingerprint(self) -> str:
        """SHA-256 over all that decides a vector; store it beside the vectors."""
        return str(self._manifest["fingerprint"])

    @property
    def max_length(self) -> int:
        """Tokens kept of a text, special tokens included."""
        return MAX_LENGTH

    @property
    def provider(self) -> str:
        """The execution provider that runs the graph."""
        return PROVIDERS[self._options[0]]

    def self_check(self) -> float:
        """Reproduce the golden cases of the model file.

        Returns:
            The largest difference of one element; of packed bits, how many of them differ.

        Raises:
            SelfCheckError: a case differs by more than its tolerance.
            ModelError: the file was changed or replaced.
        """
        self._session()
        head = self._head()
        check_tail(head)
        return check_cases(self, head, self._options[0])

    def close(self) -> None:
        """Free the model once the calls in flight have ended; later calls raise ClosedError."""
        self._opened = 0, None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> tuple[Callable[[], Self], tuple[()]]:
        """Another process opens the file for itself."""
        return partial(type(self), self._path, **self._given), ()

    def __repr__(self) -> str:
        state = "open" if self._opened[1] else "closed"
        return f"<{type(self).__name__} {self.name} {self.provider} {state}>"

    def _session(self) -> Session:
        """The open session; the child of a fork opens one of its own."""
        process, session = self._opened
        if session is None:
            raise ClosedError(f"the {self._noun} is closed; open another")
        if process != os.getpid():
            session = Session(self._head(), *self._options)
            self._opened = os.getpid(), session
        return session

    def _head(self) -> Head:
        """The file's head, read once more."""
        head = read_head(self._path)
        if head.manifest["fingerprint"] != self.fingerprint:
            raise ModelError(f"{self._path}: was replaced since it was opened; open it again")
        return head

    def _checked(self, texts: Iterable[Any]) -> Iterator[Any]:
        """What rows are made of."""
        return checked_texts(texts)

    def _tokenize(self, texts: Iterable[Any], prompt: str | None) -> list[list[int]]:
        checked, session = self._checked(texts), self._session()
        return [row for window in windows(checked) for row in session.tokenize(window, prompt)]

    def _run(self, rows: Any, prompt: str | None) -> Results:
        """Run rows of token ids as one batch, padded to the longest."""
        checked, session = checked_rows(rows), self._session()
        return session.run(checked, prompt) if checked else empty(0)

    def _each_window(self, texts: Iterable[Any], prompt: str | None) -> Iterator[Results]:
        """What the graph gives for one window of texts after another."""
        checked, session = self._checked(texts), self._session()
        for window in windows(checked):
            yield session.vectors(session.tokenize(window, prompt), prompt)

    def _vectors(self, texts: Iterable[Any], prompt: str | None) -> Results:
        """What the graph gives for texts, in their order."""
        return np.concatenate([empty(0), *self._each_window(texts, prompt)])


def windows(texts: Iterator[Any]) -> Iterator[list[Any]]:
    """Cut texts into lists of ``WINDOW``; the last one may be shorter."""
    return iter(lambda: list(islice(texts, WINDOW)), [])
