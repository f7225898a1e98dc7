"""Labels of pairs of texts: what is baked of a CrossEncoder with several labels."""

from __future__ import annotations

from pathlib import Path

import pytest

from models.files.task_models import LABELS, write_labelled, write_pair_classifier
from models.folders.tiny_folders import change_json
from polybake.baking.sources import open_source
from polybake.baking.tasks import ClassifyPairs, Known, task_of
from polybake.base.modelfile.container import read_head
from polybake.base.modelfile.fixture import decode_vectors


def test_a_cross_encoder_of_several_labels_is_found(tmp_path: Path) -> None:
    """Without a CrossEncoder's mark the labels are of single texts; with one label, it reranks."""
    folder = write_labelled(tmp_path / "model", *LABELS)
    assert task_of(open_source(folder)).name == "classify"
    change_json(folder / "config.json", sentence_transformers={"version": "5.1.0"})
    assert task_of(open_source(folder)).name == "classify-pairs"
    change_json(folder / "config.json", id2label={"0": "LABEL_0"})
    assert task_of(open_source(folder)).name == "rerank"


def test_labels_and_answers_are_in_the_file(tmp_path: Path) -> None:
    """Scores are probabilities in the labels' order; answers hold them best first."""
    head = read_head(write_pair_classifier(tmp_path / "m.onnx"))
    contract = head.manifest.contract
    assert (contract.task, contract.settings) == ("classify-pairs", {"labels": list(LABELS)})
    assert contract.pair is not None
    assert contract.pair.truncate == "longest_first"
    assert (contract.output.name, contract.output.dimension) == ("scores", 4)
    for case in head.fixture.cases:
        assert [list(pair) for pair in case.texts] == case.call["texts"]
        scores = decode_vectors(case.embeddings)
        assert scores.sum(axis=1) == pytest.approx(1)
        for row, answer in zip(scores, case.answer, strict=True):
            expected = dict(zip(LABELS, map(float, row), strict=True))
            assert {one["label"]: one["score"] for one in answer} == expected
            assert [one["score"] for one in answer] == sorted(expected.values(), reverse=True)


def test_pairs_of_a_case_differ() -> None:
    """Each text stands first once, and before another one, so that a swap shows."""
    pairs = ClassifyPairs().texts(("a", "b", "c"), Known())
    assert [first for first, _ in pairs] == ["a", "b", "c"]
    assert [second for _, second in pairs][:2] == ["b", "c"]
    assert len({*pairs}) == 3
