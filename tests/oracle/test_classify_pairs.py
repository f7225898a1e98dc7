"""Classifiers of pairs against transformers' own pipeline."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from models.folders.heads import DECODERS, LABELS, saved_bert, saved_rotary
from polybake.base.modelfile.container import read_head
from polybake.base.modelfile.fixture import Case
from support.oracle.agreement import Agreement, agreement_case_by_case, bake
from support.oracle.proven import HUGGING_FACE, Proven


def agreement_with_pipeline(folder: Path, out: Path) -> Agreement:
    """Bake a folder and compare each golden case with the pipeline, a pair at a time."""
    from transformers import pipeline

    bake(folder, out, name="tiny-pairs", task="classify-pairs")
    classify = pipeline("text-classification", str(folder), top_k=None)
    labels = read_head(out).manifest.contract.settings["labels"]

    def given(case: Case) -> dict[str, Any]:
        # In a list: by itself an empty second text would count for none.
        encoded = [
            classify.tokenizer([pair], truncation=True, return_tensors="pt") for pair in case.texts
        ]
        with torch.inference_mode():
            outputs = [classify.model(**one) for one in encoded]
        answer = [classify.postprocess(one, top_k=None, _legacy=False) for one in outputs]
        scores = [{one["label"]: one["score"] for one in pair} for pair in answer]
        types = [one["token_type_ids"][0].tolist() for one in encoded if "token_type_ids" in one]
        return {
            "input_ids": tuple(tuple(one["input_ids"][0].tolist()) for one in encoded),
            # A tokenizer of a model without types gives none.
            "type_ids": tuple(map(tuple, types)) or case.type_ids,
            "embeddings": [[pair[label] for label in labels] for pair in scores],
            "answer": answer,
        }

    return agreement_case_by_case(out, given)


@pytest.mark.parametrize("kind", ["bert", "roberta"])
def test_agrees_with_transformers(kind: str, tmp_path: Path, proven: Proven) -> None:
    """Ids, types, labels, their order and their scores agree for every built-in case."""
    folder = saved_bert(tmp_path / "model", kind, LABELS)
    found = agreement_with_pipeline(folder, tmp_path / "tiny.onnx")
    proven(f"{kind} pairs", found, source=HUGGING_FACE)


def test_with_a_decoder(tmp_path: Path, proven: Proven) -> None:
    """The last token of the second text decides the labels."""
    folder = saved_rotary(tmp_path / "model", DECODERS[0])
    found = agreement_with_pipeline(folder, tmp_path / "tiny.onnx")
    proven(f"{DECODERS[0]} pairs", found, source=HUGGING_FACE)
