"""Classifiers against transformers' own pipeline."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from models.folders.heads import BERT, DECODERS, LABELS, MODERN, saved_bert, saved_rotary
from polybake.base.modelfile.container import read_head
from polybake.base.modelfile.fixture import encode_vectors
from polybake.verification.judging.answers import compare_answers
from support.oracle.agreement import Agreement, agreement, bake
from support.oracle.proven import Proven

pytestmark = pytest.mark.oracle
pytest.importorskip("transformers")

SAVED = "Hugging Face folder"
#: Kinds whose models every language verifies.
KEPT = ("roberta", "qwen2")


def named(kind: str) -> str:
    """The kind of a classifier, its variant behind a comma."""
    model, comma, variant = kind.partition(",")
    return f"{model} classifier{comma}{variant}"


def agreement_with_pipeline(folder: Path, out: Path) -> Agreement:
    """Bake a folder and compare each golden case with the pipeline, a text at a time."""
    from transformers import pipeline

    bake(folder, out, name="tiny-classifier", task="classify")
    classify = pipeline("text-classification", str(folder), top_k=None, truncation=True)
    head = read_head(out)
    labels = head.manifest.contract.settings["labels"]
    expected = []
    for case in head.fixture.cases:
        answer = [classify([text])[0] for text in case.texts]
        assert compare_answers(answer, case.answer) is None
        scores = [{one["label"]: one["score"] for one in text} for text in answer]
        vectors = np.array([[text[label] for label in labels] for text in scores], np.float32)
        ids = [tuple(classify.tokenizer(text, truncation=True).input_ids) for text in case.texts]
        changed = {"input_ids": tuple(ids), "embeddings": encode_vectors(vectors), "answer": answer}
        expected.append(case.model_copy(update=changed))
    assert len(expected) > 10
    return agreement(out, expected)


@pytest.mark.parametrize("kind", BERT)
def test_agrees_with_transformers(kind: str, tmp_path: Path, proven: Proven) -> None:
    """Labels, their order and their scores agree for every built-in case."""
    folder = saved_bert(tmp_path / "model", kind, LABELS)
    found = agreement_with_pipeline(folder, tmp_path / "tiny.onnx")
    proven(named(kind), found, source=SAVED, kept=kind in KEPT)


@pytest.mark.parametrize("kind", [*DECODERS, *MODERN])
def test_with_rotary_positions(kind: str, tmp_path: Path, proven: Proven) -> None:
    """A decoder's last token decides its labels."""
    found = agreement_with_pipeline(saved_rotary(tmp_path / "model", kind), tmp_path / "tiny.onnx")
    proven(named(kind), found, source=SAVED, kept=kind in KEPT)


@pytest.mark.parametrize("kind", MODERN[:2])
def test_a_head_on_the_mean(kind: str, tmp_path: Path, proven: Proven) -> None:
    """ModernBERT's head, and its activation, is what its configuration says."""
    settings = {"classifier_pooling": "mean", "classifier_activation": "relu"}
    folder = saved_rotary(tmp_path / "model", kind, **settings)
    found = agreement_with_pipeline(folder, tmp_path / "tiny.onnx")
    proven(f"{named(kind)}, on the mean", found, source=SAVED, kept=False)


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
    labels: tuple[str, ...], problem: str | None, tmp_path: Path, proven: Proven
) -> None:
    """Several labels may be right, numbers stay as they are, and one label stands alone."""
    folder = saved_bert(tmp_path / "model", "bert", labels, problem_type=problem)
    found = agreement_with_pipeline(folder, tmp_path / "tiny.onnx")
    proven(f"bert classifier, {len(labels)} labels, {problem}", found, source=SAVED, kept=False)
