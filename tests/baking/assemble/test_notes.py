"""What init and bake say that nobody has set."""

from __future__ import annotations

from pathlib import Path

import pytest

from models.files.task_models import write_labelled
from models.folders.tiny_folders import (
    change_json,
    write_bert,
    write_json,
    write_sentence_transformers,
)
from polybake.baking.assemble.notes import notes
from polybake.baking.sources import open_source
from polybake.baking.tasks import task_of
from support.processes.commandline import polybake

POOLING = ("Pooling", {"pooling_mode": "mean"})


def said(folder: Path, task: str | None = None, prompts: dict[str, str] | None = None) -> list[str]:
    source = open_source(folder)
    return list(notes(source, task_of(source, task), prompts, asked=task is not None))


def test_prompts_of_a_family(tmp_path: Path) -> None:
    """One line is shown where the user sets no prompts and the model's are missing or empty."""
    folder = write_sentence_transformers(tmp_path / "e5-small-v2", POOLING)
    line = "e5-small-v2 was trained with prompts (query: 'query: '); set [prompts]"
    settings = folder / "config_sentence_transformers.json"
    assert said(folder) == [line]
    assert said(folder, prompts={}) == []
    write_json(settings, {"prompts": {"query": "", "document": ""}})
    assert said(folder) == [line]
    write_json(settings, {"prompts": {"query": "query: "}})
    assert said(folder) == []
    assert said(write_sentence_transformers(tmp_path / "tiny", POOLING)) == []


def test_one_label(tmp_path: Path) -> None:
    """A model that only its one label makes a reranker gets one line; a known one gets none."""
    folder = write_labelled(tmp_path / "e5-small-classifier", "quality")
    (line,) = said(folder)
    assert line.startswith(f"{folder} has one label and was taken for a reranker; if it labels")
    assert said(folder, "rerank") == said(folder, "classify") == []
    assert said(write_labelled(tmp_path / "bge-reranker-base", "LABEL_0")) == []
    activation = "torch.nn.modules.linear.Identity"
    change_json(folder / "config.json", sbert_ce_default_activation_function=activation)
    assert said(folder) == []


@pytest.mark.slow
def test_commands_say_it(tmp_path: Path) -> None:
    """Notes go to standard error and stop once the user has set what they ask for."""
    folder = write_bert(tmp_path / "bge-base-en")
    printed = polybake("init", folder, cwd=tmp_path)
    assert "polybake: note: the source names no steps, and the mean of a text's tokens" in printed
    assert "polybake: note: bge-base-en was trained with prompts" in printed
    printed = polybake("bake", cwd=tmp_path)
    assert "polybake: note: bge-base-en was trained with prompts" in printed
    assert "the mean of" not in printed
    with (tmp_path / "polybake.toml").open("a") as file:
        file.write('[prompts]\nquery = "query: "\n')
    assert "note:" not in polybake("bake", cwd=tmp_path)
