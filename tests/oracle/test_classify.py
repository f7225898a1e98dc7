"""Classifiers against transformers' own pipeline."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from models import bert, rotary
from models.saved import MAX_LENGTH, randomise
from models.tiny_folders import change_json, write_tokenizer
from polybake.baking.bake_config import bake_config
from polybake.config import Config
from polybake.modelfile.container import read_head

pytestmark = pytest.mark.oracle
pytest.importorskip("transformers")

LABELS = ("joy", "anger", "\u65e0 \U0001f600")
BERT = [kind for kind in bert.KINDS if not kind.startswith("t5")]
DECODERS = [
    kind for kind in rotary.KINDS if rotary.KINDS[kind].model in ("Qwen2", "Qwen3", "Mistral")
]
MODERN = [kind for kind in rotary.KINDS if kind.startswith("modernbert")]


def saved_bert(folder: Path, kind: str, labels: tuple[str, ...], **settings: Any) -> Path:
    """A folder of transformers' own, with a head of so many labels."""
    model, tokenizer = bert.KINDS[kind]()
    save(folder, model.config, labels, **settings)
    tokenizer.model_max_length = MAX_LENGTH
    tokenizer.save_pretrained(folder)
    return folder


def saved_rotary(folder: Path, kind: str, **settings: Any) -> Path:
    """The same of a model with rotary positions."""
    import transformers

    made = rotary.KINDS[kind]
    save(folder, getattr(transformers, f"{made.model}Config")(**made.settings), LABELS, **settings)
    change_json(folder / "config.json", **made.rewritten)
    write_tokenizer(folder)
    # What transformers makes of it is what it saves, and then reads alike.
    transformers.AutoTokenizer.from_pretrained(folder).save_pretrained(folder)
    return folder


def save(folder: Path, config: Any, labels: tuple[str, ...], **settings: Any) -> None:
    """Draw the weights of a classifier, and let its library save them."""
    from transformers import AutoModelForSequenceClassification

    config.id2label = dict(enumerate(labels))
    config.label2id = {label: place for place, label in enumerate(labels)}
    for name, value in settings.items():
        setattr(config, name, value)
    randomise(AutoModelForSequenceClassification.from_config(config)).save_pretrained(folder)


def agrees(folder: Path, out: Path) -> None:
    """Every golden case has the pipeline's labels in its order, and its scores."""
    from transformers import pipeline

    table = {"name": "tiny", "source": folder, "output": out, "task": "classify"}
    bake_config(Config.model_validate({"model": table}))
    classify = pipeline("text-classification", str(folder), top_k=None, truncation=True)
    head = read_head(out)
    assert len(head.fixture.cases) > 10
    for case in head.fixture.cases:
        expected = [classify([text])[0] for text in case.texts]
        assert [[one["label"] for one in text] for text in case.answer] == [
            [one["label"] for one in text] for text in expected
        ]
        for found, wanted in zip(case.answer, expected, strict=True):
            assert [one["score"] for one in found] == pytest.approx(
                [one["score"] for one in wanted], abs=1e-5
            )


@pytest.mark.parametrize("kind", BERT)
def test_agrees_with_transformers(kind: str, tmp_path: Path) -> None:
    """Labels, their order and their scores, for every built-in case."""
    agrees(saved_bert(tmp_path / "model", kind, LABELS), tmp_path / "tiny.onnx")


@pytest.mark.parametrize("kind", [*DECODERS, *MODERN])
def test_with_rotary_positions(kind: str, tmp_path: Path) -> None:
    """Of decoders the last token counts."""
    agrees(saved_rotary(tmp_path / "model", kind), tmp_path / "tiny.onnx")


@pytest.mark.parametrize("kind", MODERN[:2])
def test_a_head_on_the_mean(kind: str, tmp_path: Path) -> None:
    """ModernBERT's head, and its activation, is what its configuration says."""
    settings = {"classifier_pooling": "mean", "classifier_activation": "relu"}
    agrees(saved_rotary(tmp_path / "model", kind, **settings), tmp_path / "tiny.onnx")


@pytest.mark.parametrize(
    ("labels", "problem"),
    [
        (LABELS, "multi_label_classification"),
        (LABELS, "regression"),
        (LABELS[:2], None),
        (LABELS[:1], None),
        (LABELS[:1], "regression"),
    ],
)
def test_scores_by_the_kind_of_problem(
    labels: tuple[str, ...], problem: str | None, tmp_path: Path
) -> None:
    """Each label by itself, numbers as they are, and one label alone."""
    folder = saved_bert(tmp_path / "model", "bert", labels, problem_type=problem)
    agrees(folder, tmp_path / "tiny.onnx")
