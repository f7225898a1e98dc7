"""An ONNX Runtime session whose provider is really the one asked for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import onnxruntime as ort
from numpy.typing import NDArray

from polybake.errors import CheckFailed, InputError, RequirementMissing
from polybake.modelfile.manifest import Contract

Device = Literal["cpu", "cuda"]

_PROVIDERS: dict[str, tuple[str, dict[str, str]]] = {
    "cpu": ("CPUExecutionProvider", {}),
    # TF32 rounds the factors of a product to 10 bits; vectors must equal the CPU's.
    "cuda": ("CUDAExecutionProvider", {"use_tf32": "0"}),
}
_ERRORS_ONLY = 3


def open_session(
    model: Path | bytes,
    device: str = "cpu",
    threads: int | None = None,
    *,
    name: str | Path | None = None,
) -> ort.InferenceSession:
    """Open a model for running.

    Args:
        model: The path of an ONNX file, or its bytes.
        device: ``cpu`` or ``cuda``; there is no fall-back from one to the other.
        threads: Threads within one operator; None is one per core.
        name: What the message calls a file that the user never sees; None is its path.

    Raises:
        InputError: an unknown device, or a model that ONNX Runtime does not load.
        RequirementMissing: the device cannot be had here.
    """
    if device not in _PROVIDERS:
        raise InputError(f"unknown device {device!r}; choose one of: {', '.join(_PROVIDERS)}")
    provider, settings = _PROVIDERS[device]
    if provider not in ort.get_available_providers():
        raise _missing(provider)
    options = ort.SessionOptions()
    options.log_severity_level = _ERRORS_ONLY
    if threads is not None:
        options.intra_op_num_threads = threads
    try:
        session = ort.InferenceSession(
            model if isinstance(model, bytes) else str(model),
            options,
            providers=[(provider, settings)],
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


def run_ids(
    session: ort.InferenceSession,
    contract: Contract,
    rows: Sequence[Sequence[int]],
    *,
    prompt: str | None = None,
    length: int = 0,
) -> NDArray[Any]:
    """Run rows of token ids as one batch.

    Args:
        session: A session of the model that ``contract`` describes.
        contract: Says what to feed, and the padding.
        rows: Token ids; a row without any is all padding.
        prompt: Whose ``prompt_value`` is fed, where the model takes one.
        length: Pad to this many tokens when no row is longer.

    Returns:
        ``[rows, dimension]``, of the contract's dtype.

    Raises:
        CheckFailed: the model stops at these ids.
    """
    return run_outputs(
        session, contract, rows, [contract.output.name], prompt=prompt, length=length
    )[0]


def run_outputs(
    session: ort.InferenceSession,
    contract: Contract,
    rows: Sequence[Sequence[int]],
    names: Sequence[str],
    *,
    prompt: str | None = None,
    length: int = 0,
) -> list[NDArray[Any]]:
    """Run rows as `run_ids` does, and give the outputs of these names."""
    fed = feeds(contract, rows, prompt=prompt, length=length)
    try:
        outputs: list[NDArray[Any]] = session.run(names, fed)
    except Exception as error:  # ONNX Runtime's exceptions share no base class
        longest = max(length, *(len(row) for row in rows))
        raise CheckFailed(
            f"the model does not run on {len(rows)} rows of {longest} tokens "
            f"({' '.join(str(error).split())}); give it the tokenizer that it was trained with"
        ) from error
    return outputs


def feeds(
    contract: Contract,
    rows: Sequence[Sequence[int]],
    *,
    prompt: str | None = None,
    length: int = 0,
) -> dict[str, NDArray[np.int64]]:
    """What `run_ids` feeds, by the name of the graph's input."""
    width = max(1, length, *(len(row) for row in rows))
    ids = np.full((len(rows), width), contract.pad_id, np.int64)
    mask = np.zeros_like(ids)
    for index, row in enumerate(rows):
        place = slice(width - len(row), width) if contract.pad_side == "left" else slice(len(row))
        ids[index, place] = row
        mask[index, place] = 1
    values: dict[str, Any] = {
        "input_ids": ids,
        "attention_mask": mask,
        "token_type_ids": np.zeros_like(ids),
        "position_ids": (mask.cumsum(axis=1) - 1) * mask,
    }
    return {
        one.name: (
            np.array([one.values[prompt or ""]], np.int64)
            if one.feed == "prompt_value"
            else values[one.feed]
        )
        for one in contract.inputs
    }
