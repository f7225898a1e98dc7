"""Spans of words, from the folder to golden answers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from models.task_models import TAGS, write_labelled_tokens, write_tagger
from models.tiny_folders import write_bert
from polybake.baking.bake_config import bake_config
from polybake.config import Config
from polybake.errors import InputError
from polybake.modelfile.container import read_head
from polybake.modelfile.fixture import decode_vectors
from polybake.sources import open_source
from polybake.tasks import Found, Known, Tag, task_of
from polybake.tasks.tag import AGGREGATIONS, Mark, WordRows, aggregated, mark_of, spans_of
from polybake.tokenization.words import Chunk, Word


def baked(source: Path, out: Path, **model: object) -> Path:
    table = {"name": "tiny", "source": source, "output": out, **model}
    bake_config(Config.model_validate({"model": table}))
    return out


def test_the_model_is_found_and_baked(tmp_path: Path) -> None:
    """Labels and what they mean travel in the contract; special tokens have no rows."""
    source = open_source(write_labelled_tokens(tmp_path / "model"))
    assert task_of(source).name == "tag"
    head = read_head(write_tagger(tmp_path / "tiny-tag.onnx"))
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


def test_long_texts_go_in_parts(tmp_path: Path) -> None:
    """Their last words have labels, too: every character of a plain text is in a part."""
    head = read_head(write_tagger(tmp_path / "tiny-tag.onnx"))
    case = next(case for case in head.fixture.cases if case.id == "plain")
    (text,) = case.call["texts"]
    assert len(case.texts) > 1
    assert case.texts[0] == text[: len(case.texts[0])]
    assert text.endswith(case.texts[-1])
    (first,) = case.answer[0]
    assert first[-1]["end"] == len(text)


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
    """Neighbours of one name, unless one begins or ends between them."""
    labels = ["O", "B-P", "I-P", "L-P", "U-P", "I-L", "N"]
    assert found_in(labels, words.split()) == expected


def test_ways_to_aggregate() -> None:
    """The first token's scores, the mean, and those of the token that is surest."""
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


def test_windows_share_their_words() -> None:
    """Each word has the rows of the window in whose middle it stands."""
    text = "a b c d e f"
    chunks = [Chunk(2 * n, 2 * n + 1, 1, (Word(2 * n, 2 * n + 1, 0, 1),)) for n in range(6)]
    settings = {
        "room": 4,
        "marks": [mark_of(label)._asdict() for label in ("O", "first", "second")],
    }
    first, second = [[0, 1, 0]] * 4, [[0, 0, 1]] * 4
    found = Found(
        np.array([*first, *second]),
        {"texts": ["", text]},
        Known(settings, chunks=lambda given: chunks if given else []),
        np.array([0, 4, 4]),
    )
    (blank, spans), *_ = Tag().answer(found)
    assert blank == []
    assert [(span["label"], span["text"]) for span in spans] == [
        ("first", "a b c"),
        ("second", "d e f"),
    ]


def test_what_is_refused(tmp_path: Path) -> None:
    """Another head, and a label that stands twice."""
    with pytest.raises(InputError, match=r"not trained to tag words; .*ForTokenClassification"):
        baked(write_bert(tmp_path / "m"), tmp_path / "a.onnx", task="tag")
    twice = write_labelled_tokens(tmp_path / "o", ("O", "A", "A"))
    with pytest.raises(InputError, match="the label 'A' stands twice in id2label"):
        baked(twice, tmp_path / "a.onnx")
    assert not (tmp_path / "a.onnx").exists()
