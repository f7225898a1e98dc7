"""The judge compares answers."""

from __future__ import annotations

import pytest

from polybake.verification.judging.answers import compare_answers


def ranks(*entries: tuple[str, float]) -> list[dict[str, object]]:
    return [{"label": label, "score": score} for label, score in entries]


GOLDEN = [ranks(("a", 0.5), ("b", 0.3), ("c", 0.3 - 5e-6), ("d", 0.1))]


CUT = [ranks(("a", 0.5), ("b", 4e-6), ("c", 1e-6))]


def scored(*entries: str | float) -> list[list[dict[str, object]]]:
    """An answer of labels and scores by turns."""
    return [ranks(*zip(entries[::2], entries[1::2], strict=True))]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("golden", "found"),
    [
        (GOLDEN, GOLDEN),
        (GOLDEN, scored("a", 0.5 + 9e-6, "b", 0.3, "c", 0.3, "d", 0.1)),
        (GOLDEN, scored("a", 0.5, "c", 0.3, "b", 0.3, "d", 0.1)),
        # Equal scores may replace each other at the end of a list that was cut.
        (CUT, scored("a", 0.5, "b", 4e-6, "d", 1e-6)),
        (CUT, scored("a", 0.5, "d", 3e-6, "e", 2e-6)),
        (CUT, scored("a", 0.5, "c", 4e-6, "d", 3e-6)),
    ],
)
def test_equal_answers(golden: object, found: object) -> None:
    """Scores may differ by rounding, and what scores equally may change places."""
    assert compare_answers(golden, found, top=3) is None


def test_a_whole_list_has_no_other_entries() -> None:
    """What scores as the last entry is another answer where no entry was cut off."""
    other = scored("a", 0.5, "b", 4e-6, "d", 1e-6)
    assert compare_answers(CUT, other) == "answer[0][2].label is 'd', expected 'c'"


NAN = float("nan")


@pytest.mark.parametrize(
    ("golden", "found", "message"),
    [
        (GOLDEN, scored("a", 0.5, "b", 0.3, "c", 0.3), "answer[0] has 3 entries, expected 4"),
        (
            GOLDEN,
            scored("a", 0.5 + 2e-5, "b", 0.3, "c", 0.3, "d", 0.1),
            "answer[0][0].score is 0.50002, expected 0.5",
        ),
        (GOLDEN, scored("a", 0.5, "b", 0.3, "d", 0.3, "c", 0.1), "answer[0][2].label is 'd', exp"),
        (GOLDEN, scored("b", 0.5, "a", 0.3, "c", 0.3, "d", 0.1), "answer[0][0].label is 'b', exp"),
        (GOLDEN, scored("a", NAN, "b", 0.3, "c", 0.3, "d", 0.1), "answer[0][0].score is nan, exp"),
        (GOLDEN, scored("a", 0.5, "b", 0.3, "b", 0.3, "d", 0.1), "answer[0][2].label is 'b', exp"),
        (GOLDEN, [[{"label": "a"}] * 4], "answer[0][0] has label, expected label, score"),
        (GOLDEN, {}, "answer is {}, expected [["),
        (GOLDEN, None, "answer is None, expected [["),
        # Another best answer, another last score, and an answer that stands twice are no ties.
        (CUT, scored("d", 0.5, "b", 4e-6, "c", 1e-6), "answer[0][0].label is 'd', expected 'a'"),
        (CUT, scored("a", 0.5, "b", 4e-6, "d", 0.1), "answer[0][2].label is 'd', expected 'c'"),
        (CUT, scored("a", 0.5, "b", 4e-6, "b", 4e-6), "answer[0][2].label is 'b', expected 'c'"),
        # Kinds are not mixed: a place is a whole number, and a text is a text.
        (1, 1.0, ""),
        (1, True, ""),
        ("1", 1, ""),
        (0.5, "0.5", ""),
    ],
)
def test_other_answers(golden: object, found: object, message: str) -> None:
    """The message says where, what was found and what was expected."""
    difference = compare_answers(golden, found, top=3)
    assert difference
    assert difference.startswith(message)
