"""Answers to questions, from the folder to golden answers."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from models.files.task_models import write_answerer, write_spans
from polybake.baking.bake_config import bake_config
from polybake.baking.sources import open_source
from polybake.baking.tasks import task_of
from polybake.baking.tasks.answer import Span, best_spans
from polybake.base.modelfile.container import read_head
from polybake.base.modelfile.fixture import decode_vectors
from polybake.config import Config
from polybake.runtime.tokenization.words import Chunk, Word


def baked(source: Path, out: Path, **settings: object) -> Path:
    table = {"name": "tiny", "source": source, "output": out, "task": "answer"}
    bake_config(Config.model_validate({"model": table, **settings}))
    return out


def test_the_model_is_found_and_baked(tmp_path: Path) -> None:
    """The first row is no answer, the others are tokens of the context, which types mark."""
    assert task_of(open_source(write_spans(tmp_path / "model"))).name == "answer"
    head = read_head(write_answerer(tmp_path / "tiny-answer.onnx"))
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


def test_long_contexts_go_in_parts(tmp_path: Path) -> None:
    """Each part stands beside the question, and answers keep their place in the whole context."""
    head = read_head(write_answerer(tmp_path / "tiny-answer.onnx"))
    case = next(case for case in head.fixture.cases if case.id == "plain")
    (context,) = case.call["contexts"]
    assert len(case.texts) > 1
    assert {question for question, _ in case.texts} == {case.call["question"]}
    assert context.endswith(case.texts[-1][1])
    assert all(len(ids) <= head.manifest.contract.max_length for ids in case.input_ids)


#: "ab c d": the first word has two tokens.
CHUNKS = [
    Chunk(0, 2, 2, (Word(0, 2, 0, 2),)),
    Chunk(2, 4, 1, (Word(3, 4, 0, 1),)),
    Chunk(4, 6, 1, (Word(5, 6, 0, 1),)),
]


def test_spans_are_of_whole_words() -> None:
    """A word takes its tokens' best scores; a span that ends behind the text is none."""
    rows = np.array([[0.4, 0, 0], [0.1, 0.2, 0.05], [0.15, 0.3, 0], [0.25, 0.0, 9], [0, 9, 9]])
    found = best_spans([(CHUNKS, rows)], no_answer=False)
    assert found[:3] == [Span(0.3, 0, 4), Span(0.25, 3, 4), Span(0.2, 0, 2)]
    places = {(one.start, one.end) for one in found}
    assert places == {(0, 2), (0, 4), (0, 6), (3, 4), (3, 6), (5, 6)}


def test_no_answer_is_what_every_part_says() -> None:
    """The score of no answer is the least of all parts', ranked among the others."""
    one = np.array([[0.4, 0], [0.3, 0], [0.1, 0], [0.2, 0], [0, 0]])
    other = np.array([[0.25, 0], [0.1, 0], [0.35, 0]])
    parts = [(CHUNKS, one), (CHUNKS[1:], other)]
    best = best_spans(parts, no_answer=True)
    assert best[:4] == [Span(0.35, 5, 6), Span(0.3, 0, 2), Span(0.25, 0, 0), Span(0.2, 3, 4)]
    assert Span(0.25, 0, 0) not in best_spans(parts, no_answer=False)


def test_the_longest_answer_is_the_users(tmp_path: Path) -> None:
    """The user sets the longest answer in the step."""
    steps = [{"step": "head"}, {"step": "spans", "most": 4}, {"step": "unpad"}]
    out = baked(write_spans(tmp_path / "m"), tmp_path / "tiny.onnx", steps=steps)
    assert read_head(out).manifest.contract.output.dimension == 4
