"""The verdict of a comparison."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import onnx
import pytest

from models.files.varied import change_weight, write_varied
from polybake.study.diff.neighbours import Neighbours
from polybake.study.diff.parts import ModelParts, compare_parts
from polybake.study.diff.stage_result import StageResult
from polybake.study.diff.verdict import reasons, verdict
from polybake.verification.verdict import Stage


def stages(*differing: int) -> list[StageResult]:
    """The three stages with so many of nine texts differing."""
    return [
        StageResult(stage, texts=9, differing=number)
        for stage, number in zip(
            (Stage.TOKENIZE, Stage.EMBED_IDS, Stage.EMBED), differing, strict=True
        )
    ]


IDS = "the tokenizers give 2 of 9 texts other ids"
GRAPHS = "the graphs give 3 of 9 texts other vectors for the same ids"


@pytest.mark.parametrize(
    ("differing", "found"),
    [
        ((0, 0, 0), []),
        ((2, 0, 2), [IDS]),
        ((0, 3, 3), [GRAPHS]),
        ((2, 3, 5), [IDS, GRAPHS]),
        ((2, 3, 0), []),
    ],
)
def test_a_part_is_blamed_where_vectors_differ(
    differing: tuple[int, int, int], found: list[str]
) -> None:
    """Other ids that lead to the same vectors are no fault."""
    assert list(reasons(*stages(*differing))) == found


@pytest.fixture
def parts(every_feed: Path, tmp_path: Path) -> ModelParts:
    """The parts of two files whose graphs differ."""
    other = write_varied(
        every_feed, tmp_path / "b.onnx", graph=change_weight("type_rows", lambda rows: rows * 2)
    )
    return compare_parts(every_feed, other)


def share(alone: float, texts: int = 200) -> Neighbours:
    """Neighbours that share so much together, and a little more alone."""
    return Neighbours(texts, 0.1, 0.1, min(alone + 0.001, 1), alone, ())


@pytest.mark.parametrize(
    ("differing", "neighbours", "answer", "told"),
    [
        ((0, 0, 0), share(0.1), "no", "within 1e-05 of an element and 1e-06 of 1 - cosine"),
        ((0, 3, 3), share(0.99), "no, for now", "99 % of the same neighbours; embed again"),
        ((0, 3, 3), share(0.9899), "yes", f"98.99 % of the same neighbours. {GRAPHS.capitalize()}"),
        ((0, 3, 3), share(1, texts=49), "no, for now", "(of 49 texts, too few to say much: give"),
        ((0, 3, 3), None, "yes", GRAPHS.capitalize()),
    ],
)
def test_the_answer(
    parts: ModelParts,
    differing: tuple[int, int, int],
    neighbours: Neighbours | None,
    answer: str,
    told: str,
) -> None:
    """The tolerance decides first, then the neighbours found together; each alone never does."""
    found = verdict(parts, stages(*differing), neighbours)
    assert (found.answer, told in str(found)) == (answer, True), str(found)


def test_integers_are_the_same_without_a_tolerance(every_feed_int8: Path, tmp_path: Path) -> None:
    """The tolerance of float32 is not mentioned for integers."""

    def note(model: onnx.ModelProto) -> None:
        model.producer_name = "another"

    found = [replace(one, integers=True) for one in stages(0, 0, 0)]
    other = compare_parts(
        every_feed_int8, write_varied(every_feed_int8, tmp_path / "b.onnx", graph=note)
    )
    assert str(verdict(other, found)) == "Re-index: no. The vectors of 9 texts are the same."


def test_shorter_vectors_need_no_model(every_feed: Path, every_feed_bits: Path) -> None:
    """Stored vectors can be cut instead of embedded again."""
    other = compare_parts(every_feed, every_feed_bits)
    assert str(verdict(other)) == "Re-index: yes. Another dimension (7, 56)."
    assert str(verdict(other, (), share(1), "cut and normalized")) == (
        "Re-index: yes. Another dimension (7, 56); the new vectors are the first elements of the "
        "old ones, normalized again: do so with those you have."
    )


def test_other_labels_are_other_answers(tiny_tag: Path, tmp_path: Path) -> None:
    """Renamed labels change answers even if all numbers are equal."""

    def rename(terms: dict[str, dict[str, list[str]]]) -> None:
        terms["settings"]["labels"][0] = "none"

    other = compare_parts(tiny_tag, write_varied(tiny_tag, tmp_path / "b.onnx", contract=rename))
    assert str(verdict(other, stages(0, 0, 0))) == (
        "Other answers: yes. The settings by which clients answer differ."
    )


def test_a_prompt_that_is_gone_is_a_reason(every_feed: Path, tmp_path: Path) -> None:
    """Vectors of a removed prompt have no counterpart; an added prompt does no harm."""
    fewer = write_varied(
        every_feed, tmp_path / "b.onnx", contract=lambda terms: terms["prompts"].pop("query")
    )
    assert str(verdict(compare_parts(every_feed, fewer), stages(0, 0, 0))) == (
        "Re-index: yes. The second file has no prompt 'query'."
    )
    assert verdict(compare_parts(fewer, every_feed), stages(0, 0, 0)).answer == "no"


def test_what_cannot_be_compared_is_the_reason(every_feed: Path, tiny_tag: Path) -> None:
    """Files that cannot be compared are not run, so no run is mentioned."""
    found = verdict(compare_parts(every_feed, tiny_tag))
    assert str(found) == "Re-index: yes. Another task (embed, tag)."
