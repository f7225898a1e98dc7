"""All planted faults by name: what a client may do wrong, and the judge must see."""

from __future__ import annotations

from faulty import (
    wrong_answers,
    wrong_batches,
    wrong_ids,
    wrong_integers,
    wrong_processes,
    wrong_starts,
    wrong_vectors,
)
from faulty.reference import Reference

FAULTS: dict[str, type[Reference]] = {
    name: value
    for module in (
        wrong_ids,
        wrong_batches,
        wrong_vectors,
        wrong_integers,
        wrong_answers,
        wrong_starts,
        wrong_processes,
    )
    for name, value in vars(module).items()
    if isinstance(value, type) and issubclass(value, Reference)
    if value.__module__ == module.__name__ and not name.endswith("Fault")
}
