"""Classifiers against transformers' own pipeline."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from models.folders.heads import BERT, DECODERS, LABELS, MODERN, named, saved_bert, saved_rotary
from polybake.base.modelfile.container import read_head
from polybake.base.modelfile.fixture import Case
from support.oracle.agreement import Agreement, agreement_case_by_case, bake
from support.oracle.proven import HUGGING_FACE, Proven

#: Kinds whose models every language verifies.


def agreement_with_pipeline(folder: Path, out: Path) -> Agreement:
    """Bake a folder and compare each golden case with the pipeline, a text at a time."""
    from transformers import pipeline

    bake(folder, out, name="tiny-classifier", task="classify")
    classify = pipeline("text-classification", str(folder), top_k=None, truncation=True)
    labels = read_head(out).manifest.contract.settings["labels"]

    def given(case: Case) -> dict[str, Any]:
        answer = [classify([text])[0] for text in case.texts]
        scores = [{one["label"]: one["score"] for one in text} for text in answer]
        ids = [tuple(classify.tokenizer(text, truncation=True).input_ids) for text in case.texts]
        vectors = [[text[label] for label in labels] for text in scores]
        return {"input_ids": tuple(ids), "embeddings": vectors, "answer": answer}

    return agreement_case_by_case(out, given)


@pytest.mark.parametrize("kind", BERT)
def test_agrees_with_transformers(kind: str, tmp_path: Path, proven: Proven) -> None:
    """Labels, their order and their scores agree for every built-in case."""
    folder = saved_bert(tmp_path / "model", kind, LABELS)
    found = agreement_with_pipeline(folder, tmp_path / "tiny.onnx")
    proven(named(kind, "classifier"), found, source=HUGGING_FACE)


@pytest.mark.parametrize("kind", [*DECODERS, *MODERN])
def test_with_rotary_positions(kind: str, tmp_path: Path, proven: Proven) -> None:
    """A decoder's last token decides its labels."""
    found = agreement_with_pipeline(saved_rotary(tmp_path / "model", kind), tmp_path / "tiny.onnx")
    proven(named(kind, "classifier"), found, source=HUGGING_FACE)


@pytest.mark.parametrize("kind", MODERN[:2])
def test_a_head_on_the_mean(kind: str, tmp_path: Path, proven: Proven) -> None:
    """ModernBERT's head, and its activation, is what its configuration says."""
    settings = {"classifier_pooling": "mean", "classifier_activation": "relu"}
    folder = saved_rotary(tmp_path / "model", kind, **settings)
    found = agreement_with_pipeline(folder, tmp_path / "tiny.onnx")
    proven(f"{named(kind, 'classifier')}, on the mean", found, source=HUGGING_FACE)


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
    proven(f"bert classifier, {len(labels)} labels, {problem}", found, source=HUGGING_FACE)
