"""The project's own workflow: it calls .ci/run and nox, and nox has what it calls."""

from __future__ import annotations

import re
from pathlib import Path

import yaml


def test_it_calls_what_is_there(repository: Path) -> None:
    """A session that is renamed would fail on every platform at once."""
    workflow = yaml.safe_load((repository / ".github/workflows/ci.yml").read_text(encoding="utf-8"))
    job = workflow["jobs"]["check"]
    matrix = job["strategy"]["matrix"]
    called = {*matrix["command"], *(each["command"] for each in matrix["include"])}
    assert (repository / ".ci/run").is_file()
    noxfile = (repository / "noxfile.py").read_text(encoding="utf-8")
    there = re.findall(r"^def (\w+)\(session", noxfile, re.MULTILINE)
    assert called <= {".ci/run", *(f"nox --session {session}" for session in there)}
    assert ".ci/run" in called
    runs = [step["run"] for step in job["steps"] if "run" in step]
    assert runs == ["python -m pip install nox uv", "${{ matrix.command }}"]
