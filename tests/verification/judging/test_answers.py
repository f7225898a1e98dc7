"""The judge compares answers."""

from __future__ import annotations

import pytest

from polybake.verification.judging.answers import compare_answers


def ranks(*entries: tuple[str, float]) -> list[dict[str, object]]:
    return [{"label": label, "score": score} for label, score in entries]


GOLDEN = [ranks(("a", 0.5), ("b", 0.3), ("c", 0.3 - 5e-6), ("d", 0.1))]


@pytest.mark.parametrize(
    "found",
    [
        GOLDEN,
        [ranks(("a", 0.5 + 9e-6), ("b", 0.3), ("c", 0.3), ("d", 0.1))],
        [ranks(("a", 0.5), ("c", 0.3), ("b", 0.3), ("d", 0.1))],
    ],
)
def test_equal_answers(found: object) -> None:
    """Scores may differ by rounding, and what scores equally may change places."""
    assert compare_answers(GOLDEN, found) is None


@pytest.mark.parametrize(
    ("found", "message"),
    [
        ([ranks(("a", 0.5), ("b", 0.3), ("c", 0.3))], "answer[0] has 3 entries, expected 4"),
        (
            [ranks(("a", 0.5 + 2e-5), ("b", 0.3), ("c", 0.3), ("d", 0.1))],
            "answer[0][0].score is 0.50002, expected 0.5",
        ),
        (
            [ranks(("a", 0.5), ("b", 0.3), ("d", 0.3), ("c", 0.1))],
            "answer[0][2].label is 'd', expected 'c'",
        ),
        (
            [ranks(("b", 0.5), ("a", 0.3), ("c", 0.3), ("d", 0.1))],
            "answer[0][0].label is 'b', expected 'a'",
        ),
        (
            [ranks(("a", float("nan")), ("b", 0.3), ("c", 0.3), ("d", 0.1))],
            "answer[0][0].score is nan, expected 0.5",
        ),
        (
            [ranks(("a", 0.5), ("b", 0.3), ("b", 0.3), ("d", 0.1))],
            "answer[0][2].label is 'b', expected 'c'",
        ),
        ([[{"label": "a"}] * 4], "answer[0][0] has label, expected label, score"),
        ({}, "answer is {}, expected [["),
        (None, "answer is None, expected [["),
    ],
)
def test_other_answers(found: object, message: str) -> None:
    """The message says where, what was found and what was expected."""
    difference = compare_answers(GOLDEN, found)
    assert difference is not None
    assert difference.startswith(message)


@pytest.mark.parametrize(("golden", "found"), [(1, 1.0), (1, True), ("1", 1), (0.5, "0.5")])
def test_kinds_are_not_mixed(golden: object, found: object) -> None:
    """A place is a whole number, and a text is a text."""
    assert compare_answers(golden, found)


CUT = [ranks(("a", 0.5), ("b", 4e-6), ("c", 1e-6))]


@pytest.mark.parametrize(
    "found",
    [
        [ranks(("a", 0.5), ("b", 4e-6), ("d", 1e-6))],
        [ranks(("a", 0.5), ("d", 3e-6), ("e", 2e-6))],
        [ranks(("a", 0.5), ("c", 4e-6), ("d", 3e-6))],
    ],
)
def test_what_was_left_out_may_stand_for_the_last(found: object) -> None:
    """Answers with equal scores may replace each other at the end of a list that was cut."""
    assert compare_answers(CUT, found) is None


@pytest.mark.parametrize(
    ("found", "message"),
    [
        ([ranks(("d", 0.5), ("b", 4e-6), ("c", 1e-6))], "answer[0][0].label is 'd', expected 'a'"),
        ([ranks(("a", 0.5), ("b", 4e-6), ("d", 0.1))], "answer[0][2].label is 'd', expected 'c'"),
        ([ranks(("a", 0.5), ("b", 4e-6), ("b", 4e-6))], "answer[0][2].label is 'b', expected 'c'"),
    ],
)
def test_what_is_no_tie_is_another_answer(found: object, message: str) -> None:
    """Another best answer, another last score, and an answer that stands twice all fail."""
    assert compare_answers(CUT, found) == message
