"""Answers against transformers' models, and against the words of its tokenizers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from models.folders.heads import BERT, MODERN, named, saved_bert, saved_rotary
from polybake.baking.golden.golden import make_fixture
from polybake.baking.golden.texts import CaseText
from polybake.base.modelfile.container import read_head
from support.oracle.agreement import Agreement, agreement, as_given, bake
from support.oracle.proven import HUGGING_FACE, Proven

HEAD = "QuestionAnswering"
#: Kinds whose models every language verifies.
#: Tokens of the longest answer, and answers of a golden case.
MOST, TOP = 15, 3
TEXTS = (
    "the water is over there",
    "Ada, the ferry (a boat): sails!",
    "the weather was as ever, 12 days",
    "we saw it there. we saw her",
)


def spans_of(logits: np.ndarray, context: np.ndarray) -> np.ndarray:
    """The probability of each span: ``[1 + tokens of the context, MOST]``.

    Source: transformers 4.57 ``QuestionAnsweringPipeline``, ``select_starts_ends``.
    """
    legal = context.copy()
    legal[0] = True  # no answer
    powers = np.where(legal[:, None], np.exp(logits - logits.max(axis=0)), 0.0)
    begins, ends = (powers / powers.sum(axis=0)).T
    outer = np.triu(begins[:, None] * ends)
    rows = [np.array([outer[0, 0]])] + [outer[place, place:] for place in np.flatnonzero(context)]
    given = np.zeros((len(rows), MOST))
    for row, values in zip(given, rows, strict=True):
        row[: min(MOST, len(values))] = values[:MOST]
    return given


def answers_of(encoding: Any, context: str, spans: np.ndarray) -> list[dict[str, Any]]:
    """The best spans of whole words, as the tokenizer itself counts these, or that there is none.

    Source: transformers 4.57 ``QuestionAnsweringPipeline``, ``get_indices``.
    """
    places = [place for place, text in enumerate(encoding.sequence_ids) if text == 1]
    words = {place: encoding.word_ids[place] for place in places}
    begins: dict[int, int] = {}
    ends: dict[int, int] = {}
    for place in places:
        start, end = encoding.offsets[place]
        begins.setdefault(words[place], start + (context[start : start + 1] == " "))
        ends[words[place]] = end
    best: dict[tuple[int, int], float] = {}
    for row, place in zip(spans[1:], places, strict=True):
        for longer, score in enumerate(row):
            if place + longer in words:
                found = begins[words[place]], ends[words[place + longer]]
                best[found] = max(score, best.get(found, 0.0))
    best[0, 0] = spans[0, 0]
    ordered = sorted(best, key=lambda found: (-best[found], found))[:TOP]
    return [
        {"score": float(best[a, b]), "start": a, "end": b, "text": context[a:b]} for a, b in ordered
    ]


def agreement_with_transformers(folder: Path, out: Path) -> Agreement:
    """Bake a folder; compare every span of every case, and the answers in plain texts."""
    import torch
    from transformers import AutoModelForQuestionAnswering, AutoTokenizer

    bake(folder, out, name="tiny-answerer")
    head = read_head(out)
    assert head.manifest.contract.task == "answer"
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForQuestionAnswering.from_pretrained(folder).eval()
    # The table of types is fed zeros where the class of the tokenizer gives none.
    several = getattr(model.config, "type_vocab_size", 0) > 1
    given = not several or "token_type_ids" in tokenizer.model_input_names

    def row(question: str, context: str) -> tuple[Any, np.ndarray, np.ndarray]:
        """The tokens of a pair, which of them are sought, and the spans."""
        # Both are in lists, as an empty context outside of one would not count.
        fed = tokenizer([question], [context], truncation="only_second", return_tensors="pt")
        sought = np.array([text == 1 for text in fed.encodings[0].sequence_ids])
        with torch.no_grad():
            found = model(**fed)
        logits = torch.stack([found.start_logits[0], found.end_logits[0]], -1).double().numpy()
        return fed.encodings[0], sought, spans_of(logits, sought)

    expected = []
    for case in head.fixture.cases:
        rows = [row(*pair) for pair in case.texts]
        types = [given * np.array(tokens.type_ids) + 2 * sought for tokens, sought, _ in rows]
        values = {
            "input_ids": tuple(tuple(tokens.ids) for tokens, *_ in rows),
            "type_ids": tuple(tuple(one.tolist()) for one in types),
            "embeddings": np.concatenate([spans for *_, spans in rows]),
        }
        expected.append(as_given(case, values))
    assert len(expected) > 10
    plain = CaseText("answers", "", (), None, TEXTS)
    (case,) = make_fixture(out, [plain]).cases
    rows = [row(case.call["question"], text) for text in TEXTS]
    answers = [
        answers_of(tokens, text, spans)
        for text, (tokens, _, spans) in zip(TEXTS, rows, strict=True)
    ]
    return agreement(out, [*expected, case.model_copy(update={"answer": answers})])


@pytest.mark.parametrize("kind", BERT)
def test_agrees_with_transformers(kind: str, tmp_path: Path, proven: Proven) -> None:
    """Every span's score and the best answers agree."""
    folder = saved_bert(tmp_path / "model", kind, ("begins", "ends"), HEAD)
    found = agreement_with_transformers(folder, tmp_path / "tiny.onnx")
    proven(named(kind, "answerer"), found, source=HUGGING_FACE)


@pytest.mark.parametrize("kind", MODERN)
def test_with_rotary_positions(kind: str, tmp_path: Path, proven: Proven) -> None:
    """An encoder whose head has one layer more agrees as well."""
    folder = saved_rotary(tmp_path / "model", kind, ("begins", "ends"), HEAD)
    found = agreement_with_transformers(folder, tmp_path / "tiny.onnx")
    proven(named(kind, "answerer"), found, source=HUGGING_FACE)
