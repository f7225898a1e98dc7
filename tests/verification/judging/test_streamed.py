"""Streams of a task's own answers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from polybake.base.modelfile.fixture import Case, encode_vectors
from polybake.verification.judging.streamed import StreamCall, stream_of


def called(call: dict[str, Any], answer: list[Any], tokens: int = 9) -> Case:
    """A case whose texts have so many tokens in all."""
    return Case(
        id="case",
        why="It has a call.",
        texts=("t",),
        input_ids=((1,) * tokens,),
        embeddings=encode_vectors(np.zeros((1, 8), np.float32)),
        call=call,
        answer=answer,
    )


def backwards(*cases: Case) -> StreamCall | None:
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
    assert stream == StreamCall({"texts": ["r", "q", "p"]} | asked, [["R"], ["Q"], ["P"]])


def test_documents_have_their_scores_in_their_order() -> None:
    """A stream gives scores in the order of documents, where golden answers have ranks."""
    ranks = [{"index": 1, "score": 0.75}, {"index": 0, "score": 0.25}]
    stream = backwards(called({"query": "?", "documents": ["low", "high"]}, ranks))
    scores = [{"index": 0, "score": 0.75}, {"index": 1, "score": 0.25}]
    assert stream == StreamCall({"query": "?", "documents": ["high", "low"]}, scores)


def test_spans_have_one_aggregation() -> None:
    """Only the first aggregation is streamed, since the others run the same batches."""
    call = {"texts": ["p", "q"], "aggregations": ["first", "mean"]}
    stream = backwards(called(call, [[["P"], ["Q"]], [["p"], ["q"]]]))
    expected = {"texts": ["q", "p"], "aggregations": ["first"]}
    assert stream == StreamCall(expected, [[["Q"], ["P"]]])


def test_lengths_are_the_tokens_of_a_text() -> None:
    """A case tells its tokens in all, so each text counts an equal part."""
    found: list[int] = []

    def chosen(lengths: list[int]) -> list[int]:
        found.extend(lengths)
        return [0]

    case = called({"texts": ["p", "q"]}, [["P"], ["Q"]], tokens=20)
    stream_of([case], chosen)  # type: ignore[arg-type]
    assert found == [10, 10]


@pytest.mark.parametrize("call", [None, {"texts": ["a"], "prompt": None}])
def test_vectors_have_no_call(call: dict[str, Any] | None) -> None:
    """Models of vectors stream vectors, so their cases give no call to stream."""
    case = called({"texts": ["a"]}, [[]]).model_copy(update={"call": call})
    assert backwards(case) is None
