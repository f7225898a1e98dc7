"""Spans for labels that are named with a text, from the folder to golden answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import polybake
from models.files.task_models import write_gliner
from polybake.baking.tasks.zero_shot_tag import PlacedSpan, Window, best_spans, windows
from polybake.base.modelfile.container import read_head
from polybake.base.modelfile.fixture import decode_vectors


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("gliner")
    polybake.bake(write_gliner(folder / "m"), folder / "tiny.onnx", name="tiny")
    return folder / "tiny.onnx"


def test_the_file(model: Path) -> None:
    """The contract says how labels are written, and a row has a place for each length of span."""
    contract = read_head(model).manifest.contract
    assert contract.settings == {
        "before_label": "<<ENT>>",
        "before_text": "<<SEP>>",
        "most_words": 40,
        "width": 4,
    }
    assert (contract.output.name, contract.output.dimension) == ("span_scores", 4)
    assert [one.feed for one in contract.inputs][-1] == "token_type_ids"


def test_golden_answers_are_spans(model: Path) -> None:
    """Cut out of their texts, above the threshold, in order, and none over another."""
    found = 0
    for case in read_head(model).fixture.cases:
        assert decode_vectors(case.embeddings).shape[1] == 4
        call: dict[str, Any] = case.call or {"texts": []}
        for text, spans in zip(call["texts"], case.answer or [], strict=True):
            end = 0
            for span in spans:
                assert span["text"] == text[span["start"] : span["end"]]
                assert span["start"] >= end
                assert span["score"] > call["threshold"]
                end, found = span["end"], found + 1
    assert found > 50


def test_windows_hold_every_span() -> None:
    """Each span lies whole in the window from which those of its first word are taken."""
    sizes = [1 + place % 3 for place in range(200)]
    for room, most in ((30, 99), (99, 20), (17, 17)):
        cut = windows(sizes, room, most, 4)
        taken = [word for one in cut for word in range(one.begin, one.end)]
        assert taken == list(range(200))
        for one in cut:
            assert one.last - one.first <= most
            assert sum(sizes[one.first : one.last]) <= room
            assert one.last == 200 or one.end + 3 <= one.last
    assert windows([], 9, 9, 4) == [Window(0, 0, 0, 0)]
    assert windows([20, 1], 9, 9, 4) == [Window(0, 1, 0, 1), Window(1, 2, 1, 2)]


@pytest.mark.parametrize(
    ("spans", "kept"),
    [
        ([(0.9, 1, 3, 0), (0.8, 0, 2, 1), (0.7, 3, 4, 1)], [(1, 3), (3, 4)]),
        ([(0.7, 3, 4, 1), (0.8, 0, 2, 1)], [(0, 2), (3, 4)]),
        ([(0.9, 0, 1, 0), (0.9 - 1e-6, 0, 1, 1)], None),
        ([(0.5 + 1e-6, 0, 1, 0)], None),
        ([(0.9, 0, 2, 0), (0.5 + 1e-6, 1, 2, 0)], [(0, 2)]),
    ],
    ids=["the best first", "in order", "nearly equal", "nearly at the threshold", "under another"],
)
def test_the_best_spans(
    spans: list[tuple[float, int, int, int]], kept: list[tuple[int, int]] | None
) -> None:
    """Of what shares a word the better one, unless rounding could choose the other."""
    found = best_spans([PlacedSpan(*one) for one in spans])
    assert (found and [(one.first, one.last) for one in found]) == kept
