"""Labels by entailment: what is baked, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import polybake
from models.files.task_models import write_labelled, write_zero_shot
from polybake.baking.sources import open_source
from polybake.baking.tasks import Found, ZeroShot, task_of
from polybake.base.modelfile.container import read_head
from polybake.base.modelfile.fixture import decode_vectors


def test_a_label_of_entailment_is_found(tmp_path: Path) -> None:
    """Labels such as "Entails" count, whatever their case and ending."""
    assert (
        task_of(open_source(write_labelled(tmp_path / "a", "NEUTRAL", "Entails"))).name
        == "zero-shot"
    )
    assert task_of(open_source(write_labelled(tmp_path / "b", "neutral", "joy"))).name == "classify"


@pytest.mark.parametrize(
    ("labels", "places"),
    [
        (("contradiction", "neutral", "entailment"), "(2, 0)"),
        (("entailment", "neutral", "contradiction"), "(0, 2)"),
        (("entailment", "not_entailment"), "(0, 1)"),
        (("not_entailment", "entailment"), "(1, 0)"),
        (("neutral", "entailment", "contradiction"), "(1, 2)"),
        (("Contradicts", "Entails", "other"), "(1, 0)"),
        (("neutral", "CONTRADICTION", "entailment"), "(2, 1)"),
    ],
)
def test_contradiction_is_found_by_its_name(
    tmp_path: Path, labels: tuple[str, ...], places: str
) -> None:
    """A model of two labels may call the other one by any name."""
    report = polybake.bake(
        write_labelled(tmp_path / "model", *labels), tmp_path / "m.onnx", name="m"
    )
    assert report.manifest.steps[-1] == f"select(places={places})"


def test_each_text_is_paired_with_each_label(tmp_path: Path) -> None:
    """Only the text is cut; answers are softmax over the labels, or against contradiction."""
    head = read_head(write_zero_shot(tmp_path / "tiny-zero-shot.onnx"))
    contract = head.manifest.contract
    assert contract.pair is not None
    assert (contract.pair.truncate, contract.output.dimension) == ("only_first", 2)
    for case in head.fixture.cases:
        call, numbers = case.call, np.exp(decode_vectors(case.embeddings).astype(np.float64))
        assert call is not None
        assert len(case.texts) == len(call["texts"]) * len(call["labels"])
        rows = numbers.reshape(len(call["texts"]), len(call["labels"]), 2)
        entailed = rows[..., 0]
        alone = entailed / entailed.sum(axis=1, keepdims=True)
        several = call["multi_label"] or len(call["labels"]) == 1
        expected = entailed / rows.sum(axis=2) if several else alone
        for labels, row in zip(case.answer, expected, strict=True):
            assert {one["label"]: one["score"] for one in labels} == pytest.approx(
                dict(zip(call["labels"], row, strict=True))
            )


def test_golden_cases_ask_for_one_label_and_for_several(tmp_path: Path) -> None:
    """Cases have one label alone, several with one right, and several that may all be right."""
    cases = read_head(write_zero_shot(tmp_path / "tiny-zero-shot.onnx")).fixture.cases
    calls = [case.call for case in cases if case.call is not None]
    asked = {(len(call["labels"]), call["multi_label"]) for call in calls}
    assert asked == {(1, False), (3, False), (3, True)}


def test_one_label_is_weighed_against_its_contradiction() -> None:
    """A softmax over one label alone would always be 1. Source: transformers' pipeline."""
    call = {"labels": ["sailing"], "multi_label": False}
    answer = ZeroShot().answer(Found(np.log([[1, 3], [4, 1]]).astype(np.float32), call))
    assert [labels[0]["label"] for labels in answer] == ["sailing"] * 2
    assert [labels[0]["score"] for labels in answer] == pytest.approx([0.25, 0.8], abs=1e-6)


def test_numbers_of_any_size_have_scores() -> None:
    """Large and small numbers do not overflow."""
    found = np.array([[9000, 1], [8000, 0], [-9000, 0]] * 2, np.float32)
    for labels in (["a"], ["a", "b", "c"]):
        for multi_label in (False, True):
            call = {"labels": labels, "multi_label": multi_label}
            answer = ZeroShot().answer(Found(found, call))
            assert all(0 <= one["score"] <= 1 for row in answer for one in row)
