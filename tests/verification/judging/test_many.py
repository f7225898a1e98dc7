"""Golden texts asked many at a time, in lists and streams, and what fails there alone."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from faulty.subject import OUTPUTS, SubjectFiles
from polybake.base.modelfile.fixture import Case, Fixture, encode_vectors
from polybake.verification.judging.batch_faults import batch_fault
from polybake.verification.judging.calls import ClientCall, stream_of
from polybake.verification.judging.golden import Golden, decode_fixture
from polybake.verification.judging.many import LEAST, batch_sizes, enough, many_texts, mixed
from polybake.verification.verdict import SESSION, Stage, Status, Verdict


def decoded(fixture: Fixture, precision: str = "float32") -> Golden:
    return decode_fixture(fixture, ["cpu", "cuda"], OUTPUTS[precision])


def test_batches_are_those_of_clients() -> None:
    """Sizes are those of the example in every client's own test: rows, and how many fit."""
    assert [*batch_sizes([9, 2, 2, 2, 2, 2, 4], 8)] == [(1, 1), (2, 2), (4, 4)]
    sizes = [size for size, _ in batch_sizes([2048] * 8 + [512] * 40, 16_384)]
    assert sizes == [2, 2, 2, 2, 32, 8]


@pytest.mark.parametrize(
    ("lengths", "budget"),
    [
        ([2], 512),
        ([2, 9, 256], 512),
        ([512] * 3, 512),
        ([*range(2, 200)], 512),
        ([*range(2, 200)], 16_384),
        ([8192, 3], 16_384),
    ],
)
def test_there_are_three_batches_and_the_last_is_short(lengths: list[int], budget: int) -> None:
    """Short texts are repeated, and texts are left out once there are enough tokens."""
    found = [lengths[number] for number in enough(lengths, budget, 100_000)]
    sizes = [*batch_sizes(found, budget)]
    assert len(sizes) >= 3
    assert sizes[-1][0] < sizes[-1][1] or len(set(sizes)) == 1
    assert sum(found) <= 16 * budget + max(found)
    assert len(found) >= LEAST or sum(found) > 16 * budget
    assert enough([5, 3, 4], 512, 2) == [1, 2]  # the shortest, as an answer has a limit


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


def test_a_task_s_stream_has_its_own_answer(subject: SubjectFiles) -> None:
    """It is of as many texts as the list has; answers to questions have none."""
    case = subject.fixture.cases[0]
    found = []
    for call, answer in (({"texts": ["a"]}, [["A"]]), ({"question": "?", "contexts": ["p"]}, [[]])):
        asked = case.model_copy(update={"call": call, "answer": answer})
        fixture = subject.fixture.model_copy(update={"cases": (asked,)})
        found.append(dict(many_texts(decoded(fixture), "cpu")))
    labels, questions = found
    stream = labels[Stage.STREAM].case
    count = len(stream.texts)
    assert (stream.call, stream.answer) == ({"texts": ["a"] * count}, [["A"]] * count)
    assert [*questions] == [Stage.BATCHES]


def called(call: dict[str, Any], answer: list[Any]) -> Case:
    """A case whose texts have nine tokens in all."""
    return Case(
        id="case",
        why="It has a call.",
        texts=("t",),
        input_ids=((1,) * 9,),
        embeddings=encode_vectors(np.zeros((1, 8), np.float32)),
        call=call,
        answer=answer,
    )


def backwards(*cases: Case) -> ClientCall | None:
    """The stream of all texts that there are, the last first."""
    return stream_of(cases, lambda lengths: [*range(len(lengths))][::-1])


def test_labels_are_those_of_all_cases_that_ask_alike() -> None:
    """Cases with the same labels share a stream; the larger group of texts is taken."""
    asked = {"labels": ["l"]}
    stream = backwards(
        called({"texts": ["x"], "labels": ["m"]}, [["other"]]),
        called({"texts": ["p", "q"]} | asked, [["P"], ["Q"]]),
        called({"texts": ["r"]} | asked, [["R"]]),
    )
    assert stream == ClientCall({"texts": ["r", "q", "p"]} | asked, [["R"], ["Q"], ["P"]])


def test_of_several_aggregations_one_is_streamed() -> None:
    """The first, as it is asked for alone."""
    call = {"texts": ["p", "q"], "aggregations": ["first", "mean"]}
    stream = backwards(called(call, [[["P"], ["Q"]], [["p"], ["q"]]]))
    assert stream == ClientCall({"texts": ["q", "p"], "aggregation": "first"}, [["Q"], ["P"]])


@pytest.mark.parametrize("answer", [None, [{"rows": 1, "max_sim": 1.0}]])
def test_vectors_are_streamed_without_a_call(answer: list[Any] | None) -> None:
    """So are those of multi-vector, whose answers depend on the first text of a call."""
    call = None if answer is None else {"texts": ["a"], "prompt": None}
    assert backwards(called({}, []).model_copy(update={"call": call, "answer": answer})) is None


SEVERAL = ("two", "three")


@pytest.fixture
def golden(subject: SubjectFiles) -> Golden:
    """Two cases of one text, and two of several."""
    return decode_fixture(subject.fixture, ["cpu"], OUTPUTS["float32"])


def verdicts(golden: Golden, *failed: str, many: Status = Status.FAIL) -> list[Verdict]:
    """Verdicts on embed, of which the named cases failed, and on the list of many texts."""
    statuses = dict.fromkeys((one.case.id for one in golden.cases), Status.PASS)
    statuses |= dict.fromkeys(failed, Status.FAIL)
    found = [Verdict("tiny", "cpu", case, Stage.EMBED, one) for case, one in statuses.items()]
    return [*found, Verdict("tiny", "cpu", SESSION, Stage.BATCHES, many)]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda rows: rows[::-1], "their vectors are in another order"),
        (lambda rows: rows[[0] * len(rows)], "their vectors are in another order"),
        (lambda rows: rows + 0.01, "padding; look at the mask"),
    ],
)
def test_padding_is_told_from_order(
    golden: Golden, change: Callable[[NDArray[np.float32]], NDArray[np.float32]], says: str
) -> None:
    """Right vectors at wrong places point at the order, and not at padding."""
    vectors = {one.case.id: change(one.vectors) for one in golden.cases}
    found = batch_fault(golden, verdicts(golden, *SEVERAL), vectors)
    assert found is not None
    assert says in found


def test_what_fails_between_batches_alone(golden: Golden) -> None:
    """If every case passes, only a list of several batches shows the fault."""
    found = batch_fault(golden, verdicts(golden), {})
    assert found is not None
    assert found.startswith("only a list of several batches fails: ")


def test_nothing_is_said_of_other_faults(golden: Golden) -> None:
    """No note is given if single texts fail, if nothing does, or if errors explain it."""
    assert batch_fault(golden, verdicts(golden, "one", *SEVERAL), {}) is None
    assert batch_fault(golden, verdicts(golden, many=Status.PASS), {}) is None
    assert batch_fault(golden, verdicts(golden, many=Status.ERROR), {}) is None
