"""A client that grows beyond its budget is named, of every task."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import budgets
from models.files.task_models import TASK_MODELS
from polybake.base.modelfile.container import read_head
from polybake.generation import LANGUAGES
from support.samples.weekly import weekly_but


@pytest.mark.weekly
def test_each_part_has_a_limit(
    repository: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Lines and files of the library, lines of the harness and of the own tests."""
    manifest = repository / "fixtures/all-minilm-l6-v2/manifest.json"
    assert budgets.main(manifest) == 0
    assert "over" not in capsys.readouterr().out
    limits = budgets.BUDGETS["python"]
    for part in ("lines", "files", "harness_lines", "tests_lines"):
        monkeypatch.setitem(budgets.BUDGETS, "python", replace(limits, **{part: 5}))
        assert budgets.main(manifest) == 1
        (told,) = [line for line in capsys.readouterr().out.splitlines() if "over" in line]
        assert told.startswith("python: library ")
        assert " of 5" in told


def test_all_templates_together_have_a_limit(tmp_path: Path) -> None:
    """Lines and files count, but not what is no text."""
    (tmp_path / "wasm").mkdir()
    (tmp_path / "wasm/one.wasm").write_bytes(b"\xff\n")
    (tmp_path / "one.jinja").write_text("a\n" * 16_000)
    assert budgets.counted_templates(tmp_path) == ("lines 16000 of 16000, files 1 of 420", True)
    (tmp_path / "two.jinja").write_text("a\n")
    assert budgets.counted_templates(tmp_path) == ("lines 16001 of 16000, files 2 of 420", False)


def test_the_core_has_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Imports and docstrings are lines, and no statements."""
    (tmp_path / "one.py").write_text('"""A file."""\nimport os\n\n\ndef f():\n    return os.sep\n')
    monkeypatch.setattr(budgets, "CORE", (6, 1, 2))
    told = "lines 6 of 6, files 1 of 1, statements 2 of 2"
    assert budgets.counted_core(tmp_path) == (told, True)
    (tmp_path / "two.py").touch()
    assert budgets.counted_core(tmp_path)[1] is False


@pytest.mark.parametrize("task", weekly_but(1, TASK_MODELS))
def test_a_task_adds_few_lines(task: str, tmp_path: Path) -> None:
    """The library of each is a wrapper around that of every client."""
    manifest = read_head(TASK_MODELS[task](tmp_path / "a-task.onnx")).manifest
    counts = {language: budgets.counted(manifest, language)[0] for language in LANGUAGES}
    over = []
    for language, told in counts.items():
        lines, most = told.removeprefix("library ").split(",")[0].split(" of ")
        if int(lines) > int(most):
            over.append(f"{language}: {told}")
    assert not over, "\n".join(over)
