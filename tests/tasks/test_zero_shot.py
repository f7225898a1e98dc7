"""Labels by entailment: what is baked, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import polybake
from models.task_models import write_labelled, write_zero_shot
from polybake.errors import InputError
from polybake.modelfile.container import read_head
from polybake.modelfile.fixture import decode_vectors
from polybake.sources import open_source
from polybake.tasks import Found, ZeroShot, task_of


def test_a_label_of_entailment_is_found(tmp_path: Path) -> None:
    """Whatever its case and its ending."""
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
        (("not", "entailment", "other"), "(1, 0)"),
    ],
)
def test_contradiction_is_the_other_end(
    tmp_path: Path, labels: tuple[str, ...], places: str
) -> None:
    """Source: transformers' pipeline."""
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
        assert call["multi_label"] is (len(call["texts"]) > 1)
        rows = numbers.reshape(len(call["texts"]), len(call["labels"]), 2)
        entailed = rows[..., 0]
        alone = entailed / entailed.sum(axis=1, keepdims=True)
        expected = entailed / rows.sum(axis=2) if call["multi_label"] else alone
        for labels, row in zip(case.answer, expected, strict=True):
            assert {one["label"]: one["score"] for one in labels} == pytest.approx(
                dict(zip(call["labels"], row, strict=True))
            )


def test_numbers_of_any_size_have_scores() -> None:
    """Nothing overflows."""
    found = np.array([[9000, 1], [8000, 0], [-9000, 0]] * 2, np.float32)
    for multi_label in (False, True):
        answer = ZeroShot().answer(Found(found, {"multi_label": multi_label}))
        assert all(0 <= one["score"] <= 1 for labels in answer for one in labels)


def test_labels_without_entailment_are_refused(tmp_path: Path) -> None:
    """They are named, with what would do."""
    folder = write_labelled(tmp_path / "model", "joy", "anger")
    message = "its labels are joy, anger, and one that begins with entail is needed"
    with pytest.raises(InputError, match=message):
        polybake.bake(folder, tmp_path / "m.onnx", name="m", task="zero-shot")


def test_other_steps_must_end_in_two_numbers(tmp_path: Path) -> None:
    """Of entailment and contradiction."""
    folder = write_labelled(tmp_path / "model", "joy", "entailment", "anger")
    steps = [{"step": "head"}]
    with pytest.raises(InputError, match="the steps give 3 numbers of a pair, expected two"):
        polybake.bake(folder, tmp_path / "m.onnx", name="m", task="zero-shot", steps=steps)
