"""The project's own workflow: it calls nox and nothing else, and nox has what it calls."""

from __future__ import annotations

import re
from pathlib import Path

import yaml


def test_it_calls_sessions_that_are_there(repository: Path) -> None:
    """A session that is renamed would fail on every platform at once."""
    workflow = yaml.safe_load((repository / ".github/workflows/ci.yml").read_text(encoding="utf-8"))
    job = workflow["jobs"]["nox"]
    matrix, session = job["strategy"]["matrix"], "nox --session ${{ matrix.session }}"
    called = {*matrix["session"], *(one["session"] for one in matrix["include"])}
    there = re.findall(
        r"^def (\w+)\(session", (repository / "noxfile.py").read_text(), re.MULTILINE
    )
    assert called <= {*there}
    runs = [step["run"] for step in job["steps"] if "run" in step]
    assert runs == ["python -m pip install nox uv", session]
