"""Each task is known only in the places that docs/adding-a-task.md lists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
TASKS = "python/polybake/baking/tasks"


@pytest.mark.parametrize(
    ("task", "names"),
    [
        ("zero-shot", rb"zero-shot(?![- ]tag)|zero_shot(?!_tag)|ZeroShot(?!Tag)"),
        ("zero-shot-tag", rb"zero-shot-tag|zero_shot_tag|ZeroShotTag"),
    ],
)
def test_a_task_is_one_file_and_a_folder_a_language(task: str, names: bytes) -> None:
    """No other file of the core or the templates names a task."""
    core = {f"{TASKS}/__init__.py", f"{TASKS}/{task.replace('-', '_')}.py"}
    files = [*(ROOT / "python/polybake").rglob("*.py"), *(ROOT / "templates").rglob("*")]
    naming = {
        path.relative_to(ROOT).as_posix()
        for path in files
        if path.is_file() and re.search(names, path.read_bytes())
    }
    assert naming >= core
    folders = {place.split("/")[2] for place in naming - core}
    assert folders == {task}
