"""Each task is known in few places, and refuses a model that was not trained for it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import polybake
from models.folders.tiny_folders import write_bert
from polybake.errors import InputError

ROOT = Path(__file__).parents[3]
TASKS = "python/polybake/baking/tasks"


def test_a_task_is_one_file_of_the_core() -> None:
    """No other module names it; each language has a folder of templates for it."""
    names = rb"zero-shot|zero_shot|ZeroShot"
    naming = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "python/polybake").rglob("*.py")
        if re.search(names, path.read_bytes())
    }
    assert naming == {f"{TASKS}/__init__.py", f"{TASKS}/zero_shot.py"}
    folders = {path.parent.name for path in (ROOT / "templates").glob("*/zero-shot")}
    assert folders == {"python", "node", "ruby", "csharp", "java", "go", "rust"}


@pytest.mark.parametrize(
    ("task", "named"),
    [
        ("answer", r"not trained to answer questions; .*ForQuestionAnswering"),
        ("classify", "not trained to classify texts; expected a model"),
        ("classify-pairs", "not trained to classify pairs of texts; expected"),
        ("hybrid", "gives no sparse and multi-vector outputs; expected"),
        ("multi-vector", "gives no vector for each token"),
        ("sparse", r"not trained to weigh tokens; .* ends in ForMaskedLM"),
        ("tag", r"not trained to tag words; .*ForTokenClassification"),
        ("zero-shot", "not trained to tell what a text entails"),
    ],
)
def test_another_model_is_refused(task: str, named: str, tmp_path: Path) -> None:
    """The message says what the model was not trained for; nothing is written."""
    folder = write_bert(tmp_path / "model")
    with pytest.raises(InputError, match=named):
        polybake.bake(folder, tmp_path / "m.onnx", name="m", task=task)
    assert not (tmp_path / "m.onnx").exists()
