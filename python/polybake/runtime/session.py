"""Open ONNX Runtime sessions that really use the requested provider."""

import re
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime as ort
from numpy.typing import NDArray

from polybake.errors import CheckFailed, InputError, RequirementMissing, RunFailed
from polybake.runtime.processors import limited, processors

_PROVIDERS: dict[str, tuple[str, dict[str, str]]] = {
    "cpu": ("CPUExecutionProvider", {}),
    "cuda": (
        "CUDAExecutionProvider",
        {
            # TF32 rounds the factors of a product to 10 bits; vectors must equal the CPU's.
            "use_tf32": "0",
            "arena_extend_strategy": "kSameAsRequested",
            "cudnn_conv_algo_search": "HEURISTIC",
        },
    ),
}
_ERRORS_ONLY = 3
_NOTHING = 4


class TimeLimit:
    """Ends runs that take too long.

    One thread watches all runs: a thread for each run would take a tenth of a short text's time.
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


#: A batch of the longest texts through a large model takes a part of it.
TIME_LIMIT = TimeLimit(seconds=600)

_INTEGERS: dict[str, type[np.integer[Any]]] = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}


def open_session(
    model: Path | bytes,
    device: str = "cpu",
    threads: int | None = None,
    *,
    name: str | Path | None = None,
    fused: bool = True,
    profile: Path | None = None,
    lean: bool = False,
) -> ort.InferenceSession:
    """Open a model for running."""
    if device not in _PROVIDERS:
        raise InputError(f"unknown device {device!r}; choose one of: {', '.join(_PROVIDERS)}")
    provider, settings = _PROVIDERS[device]
    if provider not in ort.get_available_providers():
        raise _missing(provider)
    if threads is not None and not 1 <= threads <= processors():
        raise InputError(
            f"threads is {threads}; expected 1 to {processors()}, the processors that this process "
            "may use"
        )
    if device == "cuda":
        ort.preload_dlls()  # CUDA's and cuDNN's packages, which no loader looks into
    options = ort.SessionOptions()
    options.log_severity_level = _ERRORS_ONLY
    if not fused:
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    if profile is not None:
        options.enable_profiling, options.profile_file_prefix = True, str(profile)
    options.intra_op_num_threads = threads or (processors() if limited() else 0)
    # Waiting threads that spin take the time of others: half of all texts on a busy machine.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    keywords = {}
    if lean:
        options.add_session_config_entry("session.disable_prepacking", "1")
        options.enable_mem_pattern = options.enable_cpu_mem_arena = False
        keywords["disabled_optimizers"] = ["ConstantFolding"]
    try:
        session = ort.InferenceSession(
            model if isinstance(model, bytes) else str(model),
            options,
            providers=[(provider, settings)],
            enable_fallback=0,  # else a run that fails on a GPU is repeated on the CPU
            **keywords,
        )
    except Exception as error:  # ONNX Runtime's exceptions share no base class
        path = "the model" if isinstance(model, bytes) else model
        reason = " ".join(str(error).split())
        raise InputError(
            f"{name or path}: ONNX Runtime {ort.__version__} does not load it ({reason}); "
            "use a valid ONNX file of an opset that it knows"
        ) from error
    if session.get_providers()[0] != provider:
        raise _missing(provider)
    return session


def _missing(provider: str) -> RequirementMissing:
    return RequirementMissing(
        f"{provider} is not available in onnxruntime {ort.__version__}; "
        "pip uninstall onnxruntime, then pip install 'onnxruntime-gpu[cuda,cudnn]'"
    )


def run(
    session: ort.InferenceSession, names: Sequence[str], fed: Mapping[str, NDArray[Any]]
) -> list[NDArray[Any]]:
    """Run a graph, which may come from anywhere, for at most `TIME_LIMIT`."""
    with TIME_LIMIT.options() as options:
        options.log_severity_level = _NOTHING  # the exception says it
        try:
            results: list[NDArray[Any]] = session.run(list(names), dict(fed), options)
        except Exception as error:  # ONNX Runtime's exceptions share no base class
            shapes = ", ".join(f"{name} {list(array.shape)}" for name, array in fed.items())
            if options.terminate:
                raise CheckFailed(
                    f"the model does not end on {shapes} within {TIME_LIMIT.seconds:g} seconds; "
                    "export it without loops that depend on numbers"
                ) from error
            reason = " ".join(str(error).split()) or type(error).__name__
            raise RunFailed(
                f"the model does not run on {shapes} ({reason}); {_remedy(reason)}"
            ) from error
    return results


def _remedy(reason: str) -> str:
    """Return a remedy for a failed run, by the words of ONNX Runtime's message."""
    if re.search("(allocate|out of|Available) memory|bad.alloc|MemoryError", reason):
        return "free memory, or give it fewer or shorter texts at a time"
    # An id beyond the table, or more tokens than positions.
    if re.search("INVALID_ARGUMENT|broadcast", reason):
        return "give it the tokenizer that it was trained with"
    return "export it again, or use another version of onnxruntime"


def run_encoder(
    session: ort.InferenceSession, outputs: Sequence[str], fed: Mapping[str, NDArray[np.int64]]
) -> list[NDArray[Any]]:
    """The outputs of an encoder without steps; its inputs may have another type than the bake's."""
    typed = {arg.name: fed[arg.name].astype(_INTEGERS[arg.type]) for arg in session.get_inputs()}
    return run(session, outputs, typed)


#: How often the runs are checked within the time limit.
_LOOKS = 60
