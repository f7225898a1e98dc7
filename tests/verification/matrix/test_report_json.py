"""A matrix as JSON."""

from __future__ import annotations

import json

from polybake.verification.matrix.report_json import matrix_json
from support.samples.sample_matrix import sample_matrix


def test_a_program_reads_what_was_asked_for_and_what_came_of_it() -> None:
    """Numbers are exact, and missing ones are null."""
    found = json.loads(matrix_json(sample_matrix()))
    assert (found["format"], found["exit_code"]) == (1, 1)
    old, none = found["rows"]
    assert (old["runtime"], old["threads"], old["instructions"]) == ("1.24.3", 1, None)
    assert old["versions"]["tokenizer_version"] == "0.22.2"
    assert [(cell["status"], cell["difference"]) for cell in old["cells"]] == [
        ("pass", 3.4e-7),
        ("fail", 3e-2),
    ]
    assert none["versions"] is None
    assert none["cells"][0]["message"] == "no such version"
