"""Embed any number of texts with a baked model file."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from polybake.errors import InputError
from polybake.modelfile.container import Head
from polybake.runtime.session import open_session, run_ids

#: Texts of one run; more would hold too many activations at once.
_BATCH = 32

#: Texts that are sorted by length before they are dealt to batches, so that little is padded.
_WINDOW = 32 * _BATCH


def embed(
    path: Path, head: Head, texts: Iterable[str], prompt: str | None = None
) -> Iterator[NDArray[np.float32]]:
    """Embed texts on the CPU and give float32 ``[batch, dimension]`` one batch after another.

    The order of the vectors is not that of the texts, but equal texts give equal batches on any
    number of cores: batches run side by side, each on one thread. A text without tokens is left
    out.

    Args:
        path: A baked model file.
        head: What `polybake.modelfile.container.read_head` gave for it.
        texts: What to embed, without the prompt.
        prompt: The name of the prompt; None takes the file's default.

    Raises:
        InputError: an unknown prompt, or a model that ONNX Runtime does not load.
        CheckFailed: the model stops at a text.
    """
    contract = head.manifest.contract
    name = contract.default_prompt if prompt is None else prompt
    if name is not None and name not in contract.prompts:
        raise InputError(
            f"{path}: unknown prompt {name!r}; "
            f"choose one of: {', '.join(contract.prompts) or 'none'}"
        )
    before = contract.prompts[name] if name is not None else ""
    tokenizer = Tokenizer.from_str(head.tokenizer)
    session = open_session(path, threads=1)
    remaining = iter(texts)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        while window := [before + text for text in islice(remaining, _WINDOW)]:
            rows = [encoding.ids for encoding in tokenizer.encode_batch_fast(window)]
            rows = sorted((row for row in rows if row), key=len)
            batches = [rows[start : start + _BATCH] for start in range(0, len(rows), _BATCH)]
            yield from pool.map(lambda ids: run_ids(session, contract, ids, prompt=name), batches)
