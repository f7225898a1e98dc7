"""What a task, its labels and its head are refused for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from models.files.task_models import (
    masked_lm_weights,
    write_gliner,
    write_labelled,
    write_m3,
    write_spans,
)
from models.folders.causal import write_language_model
from models.folders.tiny_folders import CONFIG, change_json, write_bert
from remedies.followed import MEAN, bake, refused

HEAD = [{"step": "head"}]
UNPAD = {"step": "unpad"}
RERANK = {"prompt": ["{query} ", "{document}"], "true": "yes", "false": "no"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A classifier of two labels."""
    return write_labelled(tmp_path / "model", "no", "yes")


def select(*places: int) -> list[dict[str, Any]]:
    """The head, and some of its numbers."""
    return [*HEAD, {"step": "select", "places": [*places]}]


@pytest.mark.parametrize(
    ("name", "wrong", "message", "rights"),
    [
        (
            "tasks/__init__.py: unknown task",
            {"task": "label"},
            "model.task: unknown task 'label'; choose one of: .*classify",
            [{"task": "classify"}],
        ),
        (
            "bake_config.py: model.labels: a model of the task",
            {"labels": ["a", "b"], "steps": HEAD},
            "the task 'embed' has none; leave them out, or say task = \"classify\"",
            [{"steps": HEAD}, {"labels": ["a", "b"], "steps": HEAD, "task": "classify"}],
        ),
        (
            "bake.py: and put what they say into the texts",
            {"prompts": {"query": "q: "}},
            "prompts: query: a model of the task 'classify' has none; leave them out",
            [{}],
        ),
        (
            "tasks/head.py: name as many",
            {"labels": ["a", "b", "c"]},
            "model.labels names 3 labels, and the steps give 2 numbers; name as many",
            [{"labels": ["a", "b"]}],
        ),
        (
            "tasks/head.py: is empty; give it a name",
            {"labels": ["a", ""]},
            "label of number 1 in model.labels is empty; give it a name",
            [{"labels": ["a", "b"]}],
        ),
        (
            "tasks/head.py: stands twice",
            {"labels": ["a", "a"]},
            "label 'a' stands twice in model.labels; give each number a name of its own",
            [{"labels": ["a", "b"]}],
        ),
        (
            "tasks/rerank.py: choose one with the step select",
            {"task": "rerank"},
            'give 2 numbers of a pair, .*; choose one with the step select; .* task = "classify"',
            [{"task": "rerank", "steps": select(1)}, {"task": "classify"}],
        ),
        (
            "tasks/zero_shot.py: choose them with the step select",
            {"task": "zero-shot", "steps": select(0)},
            "give 1 numbers of a pair, expected two, .*; choose them with the step select",
            [{"task": "zero-shot", "steps": select(1, 0)}],
        ),
        (
            "tasks/zero_shot.py: name it in id2label",
            {"task": "zero-shot"},
            "its labels are no, yes, and one .* entail is needed .*; .* list the steps head and",
            [{"task": "zero-shot", "steps": select(1, 0)}],
        ),
        (
            "resolve.py: unknown key; {HEAD} has none",
            {"task": "classify", "steps": [{"step": "head", "labels": 2}]},
            r"steps\[0\].labels: unknown key; head has none",
            [{"task": "classify", "steps": HEAD}],
        ),
    ],
)
def test_a_setting_is_changed(
    folder: Path,
    name: str,
    wrong: dict[str, Any],
    message: str,
    rights: list[dict[str, Any]],
) -> None:
    """Each way that the remedy names bakes."""
    with refused(name, message):
        bake(folder, **wrong)
    for right in rights:
        bake(folder, **right)


@pytest.mark.parametrize(
    ("name", "settings", "message", "right"),
    [
        (
            "tasks/head.py: which say nothing",
            {"id2label": {"0": "LABEL_0", "1": "LABEL_1"}},
            r'has LABEL_0, LABEL_1, .*; name the 2 .* or in \[model\], such as labels = \["no"',
            {"labels": ["no", "yes"]},
        ),
        (
            "tasks/classify.py: is a CrossEncoder",
            {"sentence_transformers": {"version": "5.1.0"}},
            'pairs of texts, .*; say task = "classify-pairs", or, .* list the steps yourself',
            {"task": "classify-pairs"},
        ),
    ],
)
def test_a_setting_stands_in_for_config_json(
    folder: Path, name: str, settings: dict[str, Any], message: str, right: dict[str, Any]
) -> None:
    """Labels, tasks and steps of polybake.toml go before those of the folder."""
    change_json(folder / "config.json", **settings)
    with refused(name, message):
        bake(folder, task="classify")
    bake(folder, **right)
    steps = [*HEAD, {"step": "activation", "function": "softmax"}]
    bake(folder, task="classify", labels=["no", "yes"], steps=steps)


def test_labels_are_named_in_config_json(folder: Path) -> None:
    """The file may say what [model] could."""
    change_json(folder / "config.json", id2label={"0": "LABEL_0", "1": "LABEL_1"})
    with refused("tasks/head.py: which say nothing", "id2label of config.json .*; name"):
        bake(folder)
    change_json(folder / "config.json", id2label={"0": "not", "1": "entailment"})
    bake(folder, task="zero-shot")


def test_a_regression_s_task_is_said(tmp_path: Path) -> None:
    """Both tasks that one number may have bake."""
    folder = write_labelled(tmp_path / "model", "LABEL_0")
    change_json(folder / "config.json", problem_type="regression")
    with refused("tasks/rerank.py: problem_type is regression", 'task = "rerank".*labels'):
        bake(folder)
    bake(folder, task="rerank")
    bake(folder, task="classify", labels=["score"])


def test_spans_have_their_head_and_their_task(tmp_path: Path) -> None:
    """Of a model that answers, the head gives two numbers for each token."""
    folder, spans = write_spans(tmp_path / "model"), {"step": "spans"}
    with refused("steps/spans.py: put it after step", "has 12; put it after step = .head"):
        bake(folder, task="answer", steps=[spans])
    with refused("steps/spans.py: rows are single texts", 'say task = "answer"$'):
        bake(folder, steps=[*HEAD, spans])
    with refused("assemble/fold.py: or let them end in", r"15\], .* out, .*, or let .*unpad"):
        bake(folder, task="answer", steps=[*HEAD, spans])
    bake(folder, task="answer")
    bake(folder, task="answer", steps=[*HEAD, spans, UNPAD])


def test_the_task_of_label_spans(tmp_path: Path) -> None:
    """GLiNER's head needs labels beside a text."""
    folder = write_gliner(tmp_path / "model")
    with refused("steps/label_spans.py: rows are single texts", "leave .* task out"):
        bake(folder, steps=HEAD)
    bake(folder)


def test_an_embedding_is_of_a_text(tmp_path: Path) -> None:
    """Rows of tokens are another task's."""
    folder = write_bert(tmp_path / "model")
    with refused("assemble/fold.py: in the place of unpad", r"12\] of tokens, .*; put a step"):
        bake(folder, steps=[UNPAD])
    bake(folder, steps=MEAN)


def test_a_masked_language_model(tmp_path: Path) -> None:
    """Its head weighs tokens, or is left out."""
    config = CONFIG | {"architectures": ["BertForMaskedLM"]}
    folder = write_bert(tmp_path / "model", config, masked_lm_weights())
    with refused("bake_config.py: ForMaskedLM", 'task = "sparse".*, or list the .*"mean"'):
        bake(folder)
    bake(folder, task="sparse")
    bake(folder, steps=MEAN)


def test_a_language_model(tmp_path: Path) -> None:
    """Its authors pool it, or ask it about pairs."""
    folder = write_language_model(tmp_path / "model")
    name = "tasks/embed.py: and no task does that"
    with refused(name, r"Qwen3ForCausalLM was trained to go on .*\[\[steps\]\].*\[rerank\]"):
        bake(folder)
    bake(folder, steps=MEAN)
    bake(folder, rerank=RERANK)
    with refused("bake_config.py: rerank: a model of the task", "'embed' is not asked so"):
        bake(folder, rerank=RERANK, steps=MEAN)
    bake(folder, steps=MEAN)
    bake(folder, rerank=RERANK, steps=HEAD, task="rerank")


def test_a_model_that_is_asked_nothing(folder: Path) -> None:
    """The table of language models is left out."""
    with refused("sources/__init__.py: is no causal language", "leave .rerank. out"):
        bake(folder, rerank=RERANK)
    bake(folder)


def test_the_steps_of_a_hybrid_model_are_left_out(tmp_path: Path) -> None:
    """Its further outputs are of its own steps."""
    folder = write_m3(tmp_path / "model")
    with refused("assemble/build.py: they end in", r"leave its \[\[steps\]\] out"):
        bake(folder, task="hybrid", steps=MEAN)
    bake(folder, task="hybrid")
