"""Zero-shot classifiers against transformers' own pipeline."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from models.folders.heads import BERT, MODERN, named, saved_bert, saved_rotary
from polybake.base.modelfile.fixture import Case
from support.oracle.agreement import Agreement, agreement_case_by_case, bake
from support.oracle.proven import HUGGING_FACE, Proven

LABELS = ("contradiction", "neutral", "entailment")

#: Kinds whose models every language verifies.


def agreement_with_pipeline(folder: Path, out: Path, labels: tuple[str, ...]) -> Agreement:
    """Bake a folder and compare each golden case with the pipeline, one label alone, too."""
    from transformers import pipeline

    bake(folder, out, name="tiny-zero-shot")
    classify = pipeline("zero-shot-classification", str(folder), device="cpu")
    entailment = [label.lower()[:6] for label in labels].index("entail")
    contradiction = -1 if entailment == 0 else 0

    def given(case: Case) -> dict[str, Any]:
        call = case.call
        answer = [
            _answer(classify, text, call) if text else golden
            for text, golden in zip(call["texts"], case.answer, strict=True)
        ]
        encoded = [
            classify.tokenizer(*pair, truncation="only_first", return_tensors="pt")
            for pair in case.texts
        ]
        with torch.inference_mode():
            numbers = [classify.model(**one).logits[0].numpy() for one in encoded]
        types = [one.get("token_type_ids") for one in encoded]
        known = not any(one is None for one in types)
        return {
            "input_ids": tuple(tuple(one.input_ids[0].tolist()) for one in encoded),
            # A tokenizer of a model without types gives none.
            "type_ids": tuple(tuple(one[0].tolist()) for one in types) if known else case.type_ids,
            "embeddings": [[row[entailment], row[contradiction]] for row in numbers],
            "answer": answer,
        }

    found = agreement_case_by_case(out, given)
    assert {len(case.call["labels"]) for case in found.expected} == {1, 3}
    return found


def _answer(classify: object, text: str, call: dict[str, object]) -> list[dict[str, object]]:
    """The pipeline's labels of a text; it refuses an empty one."""
    found = classify(
        text,
        candidate_labels=call["labels"],
        hypothesis_template=call["template"],
        multi_label=call["multi_label"],
    )
    return [
        {"label": label, "score": float(score)}
        for label, score in zip(found["labels"], found["scores"], strict=True)
    ]


@pytest.mark.parametrize("kind", [*BERT, "bart"])
def test_agrees_with_transformers(kind: str, tmp_path: Path, proven: Proven) -> None:
    """Ids, types, entailment, labels and scores agree for every built-in case."""
    folder = saved_bert(tmp_path / "model", kind, LABELS)
    found = agreement_with_pipeline(folder, tmp_path / "tiny.onnx", LABELS)
    proven(named(kind, "entailment"), found, source=HUGGING_FACE)


@pytest.mark.parametrize("kind", MODERN[:1])
def test_with_rotary_positions(kind: str, tmp_path: Path, proven: Proven) -> None:
    """ModernBERT has a head of another kind, which agrees as well."""
    folder = saved_rotary(tmp_path / "model", kind, LABELS)
    found = agreement_with_pipeline(folder, tmp_path / "tiny.onnx", LABELS)
    proven(f"{kind} entailment", found, source=HUGGING_FACE)


@pytest.mark.parametrize(
    "labels",
    [("ENTAILMENT", "NEUTRAL", "CONTRADICTION"), ("not_entailment", "entailment")],
    ids=["entailment first", "two labels"],
)
def test_where_entailment_stands(labels: tuple[str, ...], tmp_path: Path, proven: Proven) -> None:
    """Entailment may be the first or the last label; contradiction is at the other end."""
    folder = saved_bert(tmp_path / "model", "bert", labels)
    found = agreement_with_pipeline(folder, tmp_path / "tiny.onnx", labels)
    proven(f"bert entailment, {' '.join(labels)}", found, source=HUGGING_FACE)
