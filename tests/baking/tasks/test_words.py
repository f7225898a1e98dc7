"""Spans of words: labels and answers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from models.files.task_models import TAGS, write_labelled_tokens, write_spans
from polybake.baking.bake_config import bake_config
from polybake.baking.sources import open_source
from polybake.baking.tasks import task_of
from polybake.baking.tasks.answer import Span, best_spans
from polybake.baking.tasks.spans import AGGREGATIONS, Mark, WordRows, aggregated, mark_of, spans_of
from polybake.baking.tasks.text_words import fitting
from polybake.baking.tokenizer.words import Chunk, Word
from polybake.base.modelfile.container import read_head
from polybake.base.modelfile.fixture import decode_vectors
from polybake.config import Config


def baked(source: Path, out: Path, steps: list[object] | None = None, **model: object) -> Path:
    table = {"name": "tiny", "source": source, "output": out, **model}
    bake_config(Config.model_validate({"model": table} | ({"steps": steps} if steps else {})))
    return out


@pytest.mark.parametrize(
    ("label", "mark"),
    [
        ("O", Mark("", begins=False, ends=False)),
        ("B-PER", Mark("PER", begins=True, ends=False)),
        ("I-PER", Mark("PER", begins=False, ends=False)),
        ("L-PER", Mark("PER", begins=False, ends=True)),
        ("E-PER", Mark("PER", begins=False, ends=True)),
        ("U-PER", Mark("PER", begins=True, ends=True)),
        ("S-B-7\n", Mark("B-7\n", begins=True, ends=True)),
        ("NOUN", Mark("NOUN", begins=False, ends=False)),
        ("B-", Mark("B-", begins=False, ends=False)),
        ("b-per", Mark("b-per", begins=False, ends=False)),
        ("", Mark("", begins=False, ends=False)),
    ],
)
def test_what_labels_mean(label: str, mark: Mark) -> None:
    """BIO, BILOU and BIOES, and any other label is what it says."""
    assert mark_of(label) == mark


def found_in(labels: Sequence[str], words: Sequence[str]) -> list[tuple[str, int, int]]:
    """The spans of words that surely have these labels, each a word of one character."""
    rows = np.eye(len(labels))[[labels.index(word) for word in words]]
    given = [WordRows(n, n + 1, row[None]) for n, row in enumerate(rows)]
    spans = spans_of([mark_of(label) for label in labels], given, "first")
    return [(span.label, span.start, span.end) for span in spans]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("O B-P I-P O", [("P", 1, 3)]),
        ("B-P B-P I-P", [("P", 0, 1), ("P", 1, 3)]),
        ("I-P I-P I-L", [("P", 0, 2), ("L", 2, 3)]),
        ("B-P I-P L-P I-P", [("P", 0, 3), ("P", 3, 4)]),
        ("U-P U-P I-L", [("P", 0, 1), ("P", 1, 2), ("L", 2, 3)]),
        ("N N O N B-P", [("N", 0, 2), ("N", 3, 4), ("P", 4, 5)]),
        ("O O", []),
        ("", []),
    ],
)
def test_words_make_spans(words: str, expected: list[tuple[str, int, int]]) -> None:
    """Neighbouring words of one name make a span, unless a label begins or ends between them."""
    labels = ["O", "B-P", "I-P", "L-P", "U-P", "I-L", "N"]
    assert found_in(labels, words.split()) == expected


def test_ways_to_aggregate() -> None:
    """A word takes its first token's scores, the mean, or those of its surest token."""
    rows = np.array([[0.6, 0.3, 0.1], [0.0, 0.9, 0.1], [0.5, 0.4, 0.1]])
    assert [*AGGREGATIONS] == ["first", "mean", "max"]
    assert aggregated(rows, "first").tolist() == [0.6, 0.3, 0.1]
    assert aggregated(rows, "mean") == pytest.approx([1.1 / 3, 1.6 / 3, 0.1])
    assert aggregated(rows, "max").tolist() == [0.0, 0.9, 0.1]
    marks = [mark_of(label) for label in ("A", "B", "C")]
    labels = [
        span.label for way in AGGREGATIONS for span in spans_of(marks, [WordRows(0, 1, rows)], way)
    ]
    assert labels == ["A", "B", "B"]


def test_tags_are_in_the_file(tiny_tag: Path, tmp_path: Path) -> None:
    """Labels and what they mean travel in the contract; special tokens have no rows.

    A long text is cut to what a row holds, since clients refuse it.
    """
    source = open_source(write_labelled_tokens(tmp_path / "model"))
    assert task_of(source).name == "tag"
    head = read_head(tiny_tag)
    contract = head.manifest.contract
    assert contract.output.counts is not None
    assert contract.settings["labels"] == [*TAGS]
    assert contract.settings["marks"][:2] == [
        {"name": "", "begins": False, "ends": False},
        {"name": "PER", "begins": True, "ends": False},
    ]
    assert (contract.settings["room"], contract.settings["special"]) == (30, [1, 1])
    for case in head.fixture.cases:
        rows = decode_vectors(case.embeddings)
        assert len(rows) == sum(len(ids) - 2 for ids in case.input_ids)
        assert rows.sum(axis=1) == pytest.approx(1, abs=1e-6)
        given = case.call["texts"]
        for spans in case.answer:
            assert len(spans) == len(given)
            for text, found in zip(given, spans, strict=True):
                for span in found:
                    assert text[span["start"] : span["end"]] == span["text"] != ""
    case = next(case for case in head.fixture.cases if case.id == "plain")
    assert [*case.texts] == case.call["texts"]
    assert case.answer[0][0][-1]["end"] == len(case.texts[0])


def test_the_beginning_of_a_long_text_fits() -> None:
    """Whole chunks as long as they fit; of a first one that does not, a half, or a half of that."""

    def chunks(text: str) -> list[Chunk]:
        """A token a letter."""
        ends = [match.end() for match in re.finditer(r" *\w+", text)]
        return [Chunk(a, b, b - a, ()) for a, b in zip([0, *ends], ends, strict=False)]

    for text, fits in (
        ("ab cd ef", "ab cd"),
        ("ab cd", "ab cd"),
        ("abcdefghij k", "ab"),
        ("", ""),
    ):
        assert fitting(text, chunks, 5) == fits


def test_answers_are_in_the_file(tiny_answer: Path, tmp_path: Path) -> None:
    """The first row is no answer, the others are tokens of the context, which types mark."""
    assert task_of(open_source(write_spans(tmp_path / "model"))).name == "answer"
    head = read_head(tiny_answer)
    contract = head.manifest.contract
    assert (contract.task, contract.output.dimension) == ("answer", 15)
    assert contract.pair is not None
    assert [piece.type_id for piece in contract.pair.pieces] == [0, 0, 0, 3, 1]
    assert contract.pair.truncate == "only_second"
    for case in head.fixture.cases:
        rows = decode_vectors(case.embeddings)
        assert case.type_ids is not None
        assert len(rows) == sum(1 + types.count(3) for types in case.type_ids)
        if case.call is None:
            assert case.id in ("empty", "white-space")
            continue
        for text, answers in zip(case.call["contexts"], case.answer, strict=True):
            assert 1 <= len(answers) <= 3
            for found in answers:
                assert text[found["start"] : found["end"]] == found["text"]
                assert found["text"] or case.call["no_answer"]
    case = next(case for case in head.fixture.cases if case.id == "plain")
    (context,) = case.call["contexts"]
    assert case.texts == ((case.call["question"], context),)


#: "ab c d": the first word has two tokens.
CHUNKS = [
    Chunk(0, 2, 2, (Word(0, 2, 0, 2),)),
    Chunk(2, 4, 1, (Word(3, 4, 0, 1),)),
    Chunk(4, 6, 1, (Word(5, 6, 0, 1),)),
]


def test_spans_are_of_whole_words() -> None:
    """A word takes its tokens' best scores; a span that ends behind the text is none."""
    rows = np.array([[0.4, 0, 0], [0.1, 0.2, 0.05], [0.15, 0.3, 0], [0.25, 0.0, 9], [0, 9, 9]])
    found = best_spans(CHUNKS, rows, no_answer=False)
    assert found[:3] == [Span(0.3, 0, 4), Span(0.25, 3, 4), Span(0.2, 0, 2)]
    places = {(one.start, one.end) for one in found}
    assert places == {(0, 2), (0, 4), (0, 6), (3, 4), (3, 6), (5, 6)}


def test_no_answer_is_ranked_among_the_others() -> None:
    """Its score is that of the row before the tokens'."""
    rows = np.array([[0.25, 0], [0.3, 0], [0.1, 0], [0.2, 0], [0, 0]])
    best = best_spans(CHUNKS, rows, no_answer=True)
    assert best[:3] == [Span(0.3, 0, 2), Span(0.25, 0, 0), Span(0.2, 3, 4)]
    assert Span(0.25, 0, 0) not in best_spans(CHUNKS, rows, no_answer=False)
