"""All planted faults by name: what a client may do wrong, and the judge must see."""

from __future__ import annotations

from faulty import wrong_answers, wrong_batches, wrong_processes, wrong_vectors
from faulty.reference import Reference

FAULTS: dict[str, type[Reference]] = {
    **wrong_vectors.FAULTS,
    **wrong_batches.FAULTS,
    **wrong_answers.FAULTS,
    **wrong_processes.FAULTS,
}
