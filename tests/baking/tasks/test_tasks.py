"""Where a task is known, as docs/adding-a-task.md says."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[3]
NAMES = (b"zero-shot", b"zero_shot", b"ZeroShot")
CORE = {"python/polybake/baking/tasks/__init__.py", "python/polybake/baking/tasks/zero_shot.py"}


def test_a_task_is_one_file_and_a_folder_a_language() -> None:
    """Nothing else in the core or in the templates names it."""
    files = [*(ROOT / "python/polybake").rglob("*.py"), *(ROOT / "templates").rglob("*")]
    naming = {
        path.relative_to(ROOT).as_posix()
        for path in files
        if path.is_file() and any(name in path.read_bytes() for name in NAMES)
    }
    assert naming >= CORE
    folders = {place.split("/")[2] for place in naming - CORE}
    assert folders == {"zero-shot"}
