"""What a bake proves about its own result before it reports success."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnxruntime as ort
from numpy.typing import NDArray

from polybake.errors import CheckFailed
from polybake.manifest import Contract
from polybake.runtime import feeds, run_ids
from polybake.sources.source import Reference
from polybake.steps import Step

Floats = NDArray[np.floating[Any]]
Rows = Sequence[Sequence[int]]

#: Of one element, relative to the vector's length, which is 1 where it is normalised.
#: Source: docs/tolerances.md, "Limits".
LIMIT = 1e-5

#: How many rows go together, and how much of each, to see whether neighbours matter.
_PROBES = 7
_PROBE_LENGTH = 32


def largest_difference(found: Floats, expected: Floats) -> float:
    """The largest difference of one element, relative to the expected row's L2 norm.

    Args:
        found: ``[rows, dimension]``.
        expected: The same shape; a row of zeros is compared absolutely.

    Returns:
        NaN when either holds a NaN.
    """
    norms = np.linalg.norm(expected, axis=-1, keepdims=True)
    return float(np.max(np.abs(found - expected) / np.where(norms > 0, norms, 1.0)))


def prove_steps(
    vectors: Sequence[Floats],
    batches: Sequence[Rows],
    *,
    contract: Contract,
    session: ort.InferenceSession,
    reference: Reference,
    steps: Sequence[Step],
) -> float:
    """Compare baked vectors with the encoder alone followed by the steps in NumPy.

    Args:
        vectors: What the baked graph gave for each of ``batches``.
        batches: Token ids; each batch is one run.
        contract: Says what to feed.
        session: A session of ``reference``.
        reference: The encoder without the steps.
        steps: What was folded over it.

    Returns:
        The largest difference.

    Raises:
        CheckFailed: it exceeds the limit.
    """
    types = {one.name: _INTEGERS[one.type] for one in session.get_inputs()}
    largest = 0.0
    for found, rows in zip(vectors, batches, strict=True):
        fed = feeds(contract, rows)
        mask = next(fed[one.name] for one in contract.inputs if one.feed == "attention_mask")
        casted = {name: array.astype(types[name]) for name, array in fed.items()}
        expected = session.run([reference.output], casted)[0].astype(np.float64)
        for step in steps:
            expected = step.numpy(expected, mask)
        largest = _within("the source followed by the steps in NumPy", found, expected, largest)
    return largest


_INTEGERS: dict[str, type[np.integer[Any]]] = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}


def prove_invariance(
    session: ort.InferenceSession, contract: Contract, rows: Rows
) -> dict[str, float]:
    """Check that a vector depends neither on its neighbours nor on padding.

    Returns:
        The largest difference to running each row alone, for ``batch`` and ``padding``.

    Raises:
        CheckFailed: one exceeds the limit.
    """
    probes = [row[:_PROBE_LENGTH] for row in rows[:_PROBES]]
    alone = np.concatenate([run_ids(session, contract, [row]) for row in probes])
    shuffled = run_ids(session, contract, probes[::-1])[::-1]
    longest = max(len(row) for row in probes)
    padded = run_ids(session, contract, probes, length=min(2 * longest, contract.max_length))
    return {
        "batch": _within("each text alone, in a batch", shuffled, alone),
        "padding": _within("each text alone, under padding", padded, alone),
    }


def _within(what: str, found: Floats, expected: Floats, largest: float = 0.0) -> float:
    difference = largest_difference(found, expected)
    if not difference <= LIMIT:
        raise CheckFailed(
            f"the baked graph differs from {what} by {difference:.3g}, more than {LIMIT:g}; "
            "nothing was written; export the encoder again with dynamic batch and sequence axes"
        )
    return max(largest, difference)
