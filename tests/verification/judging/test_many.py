"""Golden texts asked many at a time."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from faulty.subject import OUTPUTS, SubjectFiles
from polybake.base.modelfile.fixture import Fixture
from polybake.verification.judging.golden import Golden, decode_fixture
from polybake.verification.judging.many import LEAST, batch_sizes, enough, many_texts, mixed
from polybake.verification.verdict import SESSION, Stage


def decoded(fixture: Fixture, precision: str = "float32") -> Golden:
    return decode_fixture(fixture, ["cpu", "cuda"], OUTPUTS[precision])


def test_batches_are_those_of_clients() -> None:
    """Sizes are those of the example in every client's own test: rows, and how many fit."""
    assert [*batch_sizes([9, 2, 2, 2, 2, 2, 4], 8)] == [(1, 1), (2, 2), (4, 4)]
    sizes = [size for size, _ in batch_sizes([2048] * 8 + [512] * 40, 16_384)]
    assert sizes == [2, 2, 2, 2, 32, 8]


@pytest.mark.parametrize("budget", [512, 16_384])
@pytest.mark.parametrize("lengths", [[2], [2, 9, 256], [512] * 3, [*range(2, 200)], [8192, 3]])
def test_there_are_three_batches_and_the_last_is_short(lengths: list[int], budget: int) -> None:
    """Short texts are repeated, and texts are left out once there are enough tokens."""
    found = [lengths[number] for number in enough(lengths, budget, 100_000)]
    sizes = [*batch_sizes(found, budget)]
    assert len(sizes) >= 3
    assert sizes[-1][0] < sizes[-1][1] or len(set(sizes)) == 1
    assert sum(found) <= 16 * budget + max(found)
    assert len(found) >= LEAST or sum(found) > 16 * budget


def test_an_answer_has_a_limit() -> None:
    """The number of texts is limited, and the shortest are kept."""
    assert enough([5, 3, 4], 512, 2) == [1, 2]


def test_the_order_looks_like_none_and_is_always_the_same() -> None:
    """Texts are shuffled, each list in its own way, and the same in every run."""
    numbers = [*range(50)]
    assert mixed(numbers, "list") == mixed(numbers, "list") != mixed(numbers, "stream")
    assert sorted(mixed(numbers, "list")) == numbers
    assert sum(b < a for a, b in pairwise(mixed(numbers, "list"))) > 10


@pytest.mark.parametrize("precision", OUTPUTS)
def test_texts_keep_their_rows(subjects: dict[str, SubjectFiles], precision: str) -> None:
    """Each text keeps the ids, vectors and slack of its golden case; one prompt is asked."""
    golden = decoded(subjects[precision].fixture, precision)
    rows = {
        case.case.texts[row]: (case.case.input_ids[row], case.vectors[row].tolist())
        for case in golden.cases
        if case.case.prompt is None
        for row in range(len(case.case.texts))
    }
    (_, listed), (_, stream) = many_texts(golden, "cpu")
    for many in (listed, stream):
        found = zip(many.case.texts, many.case.input_ids, many.vectors.tolist(), strict=True)
        assert all(rows[text] == (ids, vector) for text, ids, vector in found)
        assert {*many.case.texts} == {*rows}
        assert (many.case.id, many.case.prompt) == (SESSION, None)
        assert (many.slack is None) == (precision == "float32")
        assert many.slack is None or len(many.slack.values) == len(many.vectors)
    assert listed.case.texts != stream.case.texts


def test_several_vectors_a_text_stay_together(subject: SubjectFiles) -> None:
    """Nobody knows which vector belongs to which text, so whole cases are repeated."""
    golden = Golden(decoded(subject.fixture).cases, subject.fixture.tolerances, counted=True)
    (_, listed), _ = many_texts(golden, "cpu")
    text, vectors = listed.case.texts, listed.vectors
    first = text.index("e")
    assert text[first : first + 3] == ("e", "f g h", "")
    (three,) = (case for case in golden.cases if case.case.id == "three")
    np.testing.assert_array_equal(vectors[first : first + 3], three.vectors)


def test_answers_to_questions_have_no_stream(subject: SubjectFiles) -> None:
    """Clients stream no answers to questions, so only their list is asked."""
    case = subject.fixture.cases[0]
    asked = case.model_copy(update={"call": {"question": "?", "contexts": ["p"]}, "answer": [[]]})
    golden = decoded(subject.fixture.model_copy(update={"cases": (asked,)}))
    assert [stage for stage, _ in many_texts(golden, "cpu")] == [Stage.BATCHES]


def test_a_stream_of_labels_has_its_own_answer(subject: SubjectFiles) -> None:
    """The stream expects the answers of the call, for as many texts as the list has."""
    case = subject.fixture.cases[0]
    asked = case.model_copy(update={"call": {"texts": ["a"]}, "answer": [["A"]]})
    golden = decoded(subject.fixture.model_copy(update={"cases": (asked,)}))
    stream = dict(many_texts(golden, "cpu"))[Stage.STREAM].case
    count = len(stream.texts)
    assert (stream.call, stream.answer) == ({"texts": ["a"] * count}, [["A"]] * count)
