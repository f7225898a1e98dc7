"""A tokenizer and a graph, opened and run."""

import ctypes
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any
from weakref import WeakSet

from tokenizers import Encoding, Tokenizer

from .batches import batches, feeds
from .contract import CONTRACT, DEFAULT_PROMPT
from .errors import DeviceError, Error, ModelError
from .graph import BUDGETS, open_graph
from .modelfile import Head
from .outputs import OUTPUTS, Results, empty, results_of
from .tokens import rows_of


class Session:
    """A model file in memory. Its arguments have been checked. Threads may share it."""

    def __init__(self, head: Head, device: str, threads: int, concurrency: int) -> None:
        """Load the tokenizer and the graph; ``threads`` of 0 are onnxruntime's own choice.

        Raises:
            ModelError: one of them cannot be loaded.
            DeviceError: the device is not there.
        """
        self._concurrency = concurrency
        try:
            tokenizer = Tokenizer.from_str(head.tokenizer.decode("ascii"))
        except Exception as error:
            damaged = "polybake.tokenizer is damaged; bake the model again"
            raise ModelError(f"{head.path}: {damaged}") from error
        self.tokenizer: Any = _OneByOne(tokenizer) if threads == concurrency == 1 else tokenizer
        self.graph = open_graph(head.path, device, threads)
        self._budget = BUDGETS[device]
        # What fails on a GPU, checked ids given, is the GPU: mostly its memory.
        self._failure = ModelError if device == "cpu" else DeviceError
        if device == "cuda":  # a missing cuDNN is seen only by a run
            self.run([[CONTRACT["pad_id"]]], DEFAULT_PROMPT)
        _SESSIONS.add(self)

    def tokenize(self, texts: Sequence[Any], prompt: str | None) -> list[list[int]]:
        """A row of token ids for each text, truncated, not padded."""
        with _raising(ModelError, "tokenizers cannot tokenize the texts"):
            return rows_of(self.tokenizer, texts, prompt)

    def run(self, rows: Sequence[Sequence[int]], prompt: str | None) -> Results:
        """Run at least one row of token ids as one batch, padded to the longest."""
        with _raising(self._failure, "onnxruntime cannot run the graph"):
            return results_of(self.graph.run(OUTPUTS, feeds(rows, prompt)), len(rows))

    def vectors(self, rows: Sequence[Sequence[int]], prompt: str | None) -> Results:
        """Run rows in batches of similar length, some side by side; the results in their order."""
        lengths = [len(row) for row in rows]
        cut = list(batches(lengths, self._budget))
        vectors = empty(len(rows))

        def run(batch: list[int]) -> None:
            vectors[batch] = self.run([rows[i] for i in batch], prompt)

        # A row longer than a batch has work for all threads, and takes much memory: it runs alone.
        long = sum(lengths[batch[0]] > self._budget for batch in cut)
        list(map(run, cut[:long]))
        if min(self._concurrency, len(cut) - long) < 2:
            list(map(run, cut[long:]))
        else:
            with ThreadPoolExecutor(self._concurrency) as pool:
                list(pool.map(run, cut[long:]))
        return vectors


class _OneByOne:
    """A tokenizer that encodes a batch on the calling thread; by itself it takes all processors."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.encode, self.id_to_token = tokenizer.encode, tokenizer.id_to_token

    def encode_batch(self, texts: Sequence[str], add_special_tokens: bool = True) -> list[Encoding]:
        return [self.encode(text, add_special_tokens=add_special_tokens) for text in texts]

    encode_batch_fast = encode_batch


@contextmanager
def _raising(kind: type[Error], message: str) -> Iterator[None]:
    """Raise what a library raises as an error of this package."""
    try:
        yield
    except (Error, MemoryError, KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # a panic of Rust code is no Exception
        raise kind(f"{message}: {error}") from error


_SESSIONS: WeakSet[Session] = WeakSet()


def _leave_to_the_parent() -> None:
    """In the child of a fork: never free the parent's sessions, as their threads are not here."""
    for session in _SESSIONS:
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(session))
    if os.environ.get("TOKENIZERS_PARALLELISM"):  # or a tokenizer waits for the parent's threads
        os.environ["TOKENIZERS_PARALLELISM"] = "false"


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_to_the_parent)
