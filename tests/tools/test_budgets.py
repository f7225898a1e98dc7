"""A client that grows beyond its budget is named."""

from __future__ import annotations

from pathlib import Path

import pytest

import budgets


def test_the_core_is_counted_without_parts(
    repository: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Lines and files of the library each have a limit."""
    manifest = repository / "fixtures/all-minilm-l6-v2/manifest.json"
    assert budgets.main(manifest) == 0
    assert "over" not in capsys.readouterr().out
    paths, lines, files = budgets.BUDGETS["python"]
    for most_lines, most_files in ((300, files), (lines, 5)):
        monkeypatch.setitem(budgets.BUDGETS, "python", (paths, most_lines, most_files))
        assert budgets.main(manifest) == 1
        printed = capsys.readouterr().out
        assert f" of {most_lines} lines, {files} of {most_files} files: over its budget" in printed
