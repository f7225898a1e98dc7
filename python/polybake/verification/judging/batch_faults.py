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
    embedded = {v.case: v.status for v in verdicts if v.stage is Stage.EMBED}
    alone = [case for case in golden.cases if len(case.case.texts) == 1]
    if not alone or any(embedded.get(case.case.id) is not Status.PASS for case in alone):
        return None
    failed = [case for case in golden.cases if embedded.get(case.case.id) is Status.FAIL]
    if failed:
        other_order = all(_moved(case, vectors.get(case.case.id)) for case in failed)
        if other_order and not golden.counted:
            return "only calls of several texts fail: their vectors are in another order"
        return (
            "only calls of several texts fail: padding; look at the mask, at the side that is "
            "padded, and at positions"
        )
    many = [v.status for v in verdicts if v.stage is Stage.BATCHES]
    if Status.FAIL in many:
        return "only a list of several batches fails: they are lost, doubled or in another order"
    return None


def _moved(golden: GoldenCase, vectors: Embeddings | None) -> bool:
    """Return whether each row is the vector of some text of the case."""
    if vectors is None:
        return False
    expected = golden.vectors.astype(np.float64)
    return all(np.abs(expected - row).max(axis=1).min() <= _NEAR for row in vectors)
