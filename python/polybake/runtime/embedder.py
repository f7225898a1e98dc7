"""A baked model file, opened."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from polybake.base.modelfile.container import check_digest, read_head
from polybake.base.modelfile.fixture import Device, Text, decode_slack, decode_vectors
from polybake.base.modelfile.rows import Rows
from polybake.base.modelfile.tolerance import compare_ids, compare_vectors, largest_difference
from polybake.errors import CheckFailed, InputError
from polybake.runtime.batching import BUDGETS
from polybake.runtime.processors import processors
from polybake.runtime.runner import Runner
from polybake.runtime.session import open_session
from polybake.runtime.tokenizer import BakedTokenizer


class Embedder:
    """A model file, run like every client runs it; the reference for golden vectors.

    Args:
        path: A baked model file.
        device: ``cpu`` or ``cuda``; there is no fall-back from one to the other.
        threads: Threads within one operator; None means one per physical core, or one per
            processor that the process may use if these are fewer.
        at_once: Batches that run at the same time; None means one on ``cuda``, else the number of
            processors divided by ``threads``, or by 1 if ``threads`` is None.

    Raises:
        InputError: The file is not a model file or does not load, the device is unknown, or there
            are more threads than processors.
        RequirementMissing: The device is not available here.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        device: str = "cpu",
        threads: int | None = None,
        at_once: int | None = None,
    ) -> None:
        self.path = Path(path)
        self.head = read_head(self.path)
        self.manifest = self.head.manifest
        contract = self.manifest.contract
        self.runner = Runner(
            open_session(self.path, device, threads),
            contract,
            BakedTokenizer.of(self.head.tokenizer, contract),
            at_once or (1 if device == "cuda" else max(1, processors() // (threads or 1))),
            BUDGETS[device],
        )
        self.device = cast(Device, device)  # the session is open, so the device is known

    @property
    def dimension(self) -> int:
        """The number of elements of an embedding."""
        return self.manifest.contract.output.dimension

    @property
    def prompts(self) -> Mapping[str, str]:
        """Prompt texts by name."""
        return self.manifest.contract.prompts

    def tokenize(self, texts: Iterable[Text], *, prompt: str | None = None) -> list[list[int]]:
        """Return the token ids of each text with its prompt, cut at the model's limit.

        Raises:
            InputError: ``texts`` is a single text, or the model has no such prompt.
        """
        if isinstance(texts, str):
            raise InputError("expected a list of texts, got one text; put it into a list")
        return self.runner.ids(list(texts), prompt)

    def embed(self, texts: Iterable[Text], *, prompt: str | None = None) -> NDArray[Any]:
        """Embed texts: ``[texts, dimension]`` of the model's dtype, in their order.

        Raises:
            InputError: ``texts`` is a single text, the model has no such prompt, or it gives a text
                several vectors.
        """
        if any(output.counts is not None for output in self.manifest.contract.outputs):
            raise InputError(
                f"{self.path}: gives a text several vectors; ask it by a client: polybake generate"
            )
        return self.runner.embed(self.tokenize(texts, prompt=prompt), prompt)

    def embed_ids(self, rows: Rows, *, prompt: str | None = None) -> NDArray[Any]:
        """Run rows of token ids as one batch: ``[rows, dimension]`` of the model's dtype."""
        return self.runner.vectors(rows, prompt)

    def self_check(self) -> float:
        """Hash the graph and its weights, and run every golden case in the file.

        Returns:
            The largest absolute difference of an element; for packed bits, how many bits of an
            element differ.

        Raises:
            CheckFailed: the file was changed, or as in `reproduce`.
        """
        check_digest(self.head)
        return self.reproduce()

    def reproduce(self) -> float:
        """Run every golden case in the file, whose digests were checked.

        Returns:
            As `self_check`.

        Raises:
            CheckFailed: token ids differ, or a vector lies outside the file's tolerance.
        """
        largest = 0.0
        for case in self.head.fixture.cases:
            slack = decode_slack(case.embeddings)
            rows = case.rows(self.manifest.contract.vocab_size)
            answers = self.runner.of_all(rows, case.prompt).values()
            difference = compare_ids(rows, self.tokenize(case.texts, prompt=case.prompt))
            for vectors, parts in zip(case.vectors, answers, strict=True):
                golden, array = decode_vectors(vectors), np.concatenate(parts)
                difference = difference or compare_vectors(
                    golden, array, self.head.fixture.tolerances[self.device], slack
                )
                if difference:
                    raise CheckFailed(
                        f"{self.path}: case {case.id}: {difference.message}; "
                        "the file or its packages changed; bake it again"
                    )
                largest = max(largest, largest_difference(golden, array, slack))
        return largest

    def __repr__(self) -> str:
        return f"Embedder({self.manifest.name}, {self.manifest.contract.output.readable})"
