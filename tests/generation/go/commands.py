"""Run the tests of a Go client."""

from __future__ import annotations

import re
from pathlib import Path

from support.clients.rendered import run

#: Tests of what depends on the model; the others are run with one model alone.
OF_VECTORS = "GoldenCases|Neighbours|Feeds|Prompts|SelfCheck|Limits|Texts"


def own_tests(client: Path, model: Path, names: str = ".", *options: str) -> int:
    """Vet the client and run its own tests of these names; how many passed."""
    run("go", "vet", "./...", cwd=client)
    command = ("go", "test", "-p=1", "-v", f"-run={names}", *options, "./...")
    printed = run(*command, cwd=client, POLYBAKE_MODEL=str(model))
    assert "--- SKIP" not in printed
    return len(re.findall(r"^--- PASS: ", printed, re.MULTILINE))
