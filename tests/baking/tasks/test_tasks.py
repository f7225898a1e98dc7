"""Each task is known only in the places that docs/adding-a-task.md lists."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[3]
NAMES = (b"zero-shot", b"zero_shot", b"ZeroShot")
CORE = {"python/polybake/baking/tasks/__init__.py", "python/polybake/baking/tasks/zero_shot.py"}


def test_a_task_is_one_file_and_a_folder_a_language() -> None:
    """No other file of the core or the templates names a task."""
    files = [*(ROOT / "python/polybake").rglob("*.py"), *(ROOT / "templates").rglob("*")]
    naming = {
        path.relative_to(ROOT).as_posix()
        for path in files
        if path.is_file() and any(name in path.read_bytes() for name in NAMES)
    }
    assert naming >= CORE
    folders = {place.split("/")[2] for place in naming - CORE}
    assert folders == {"zero-shot"}
