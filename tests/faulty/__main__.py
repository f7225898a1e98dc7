"""Run a harness, faulty or not: python -m faulty ANSWERS FAULT LANGUAGE."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from faulty.faults import FAULTS
from faulty.reference import Reference


def run(answers: Path, fault: str, language: str) -> None:
    """Serve with the fault named, or none."""
    harness = {**FAULTS, "none": Reference}[fault]
    harness(json.loads(answers.read_text()), language).serve()


run(Path(sys.argv[1]), sys.argv[2], sys.argv[3])
