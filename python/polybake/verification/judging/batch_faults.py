"""Explain failures that only calls of several texts have."""

from collections.abc import Mapping, Sequence

import numpy as np

from polybake.base.modelfile.tolerance import Embeddings
from polybake.verification.judging.golden import Golden, GoldenCase
from polybake.verification.verdict import Stage, Status, Verdict

#: How near a moved row is to another text's row: enough for rounding of any precision, no more.
_NEAR = 1e-3


def batch_fault(
    golden: Golden, verdicts: Sequence[Verdict], vectors: Mapping[str, Embeddings]
) -> str | None:
    """Return a sentence on a client's fault on a device; None if single texts fail, too."""
    embedded = {one.case: one.status for one in verdicts if one.stage is Stage.EMBED}
    alone = [one for one in golden.cases if len(one.case.texts) == 1]
    if not alone or any(embedded.get(one.case.id) is not Status.PASS for one in alone):
        return None
    failed = [one for one in golden.cases if embedded.get(one.case.id) is Status.FAIL]
    if failed:
        moved = all(_moved(one, vectors.get(one.case.id)) for one in failed)
        if moved and not golden.counted:
            return "only calls of several texts fail: their vectors are in another order"
        return (
            "only calls of several texts fail: padding; look at the mask, at the side that is "
            "padded, and at positions"
        )
    many = [one.status for one in verdicts if one.stage is Stage.BATCHES]
    if Status.FAIL in many:
        return "only a list of several batches fails: they are lost, doubled or in another order"
    return None


def _moved(golden: GoldenCase, found: Embeddings | None) -> bool:
    """Return whether each row is the vector of some text of the case."""
    if found is None:
        return False
    expected = golden.vectors.astype(np.float64)
    return all(np.abs(expected - row).max(axis=1).min() <= _NEAR for row in found)
