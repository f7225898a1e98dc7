"""Spans of words, from the folder to golden answers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from models.files.task_models import TAGS, write_labelled_tokens, write_tagger
from polybake.baking.bake_config import bake_config
from polybake.baking.sources import open_source
from polybake.baking.tasks import Found, Known, Tag, task_of
from polybake.baking.tasks.spans import mark_of
from polybake.base.modelfile.container import read_head
from polybake.base.modelfile.fixture import decode_vectors
from polybake.config import Config
from polybake.runtime.tokenization.words import Chunk, Word


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
    """The last words have labels, too: every character of a plain text is in a part."""
    head = read_head(write_tagger(tmp_path / "tiny-tag.onnx"))
    case = next(case for case in head.fixture.cases if case.id == "plain")
    (text,) = case.call["texts"]
    assert len(case.texts) > 1
    assert case.texts[0] == text[: len(case.texts[0])]
    assert text.endswith(case.texts[-1])
    (first,) = case.answer[0]
    assert first[-1]["end"] == len(text)


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
        Known(settings, chunks=lambda given, _: chunks if given else []),
        np.array([0, 4, 4]),
    )
    (blank, spans), *_ = Tag().answer(found)
    assert blank == []
    assert [(span["label"], span["text"]) for span in spans] == [
        ("first", "a b c"),
        ("second", "d e f"),
    ]


def test_pieces_share_their_words() -> None:
    """A word belongs to the piece where it begins; one longer than a piece belongs to each."""
    text = "abcdefgh"
    pieces = [
        Chunk(0, 5, 3, (Word(0, 1, 0, 1), Word(1, 3, 1, 1), Word(3, 5, 2, 1)), inner=0),
        Chunk(3, 7, 2, (Word(3, 5, 0, 1), Word(5, 7, 1, 1)), inner=4),
        Chunk(5, 8, 1, (Word(5, 8, 0, 1),), inner=6),
    ]
    marks = [mark_of(label)._asdict() for label in ("O", "B-first", "B-second", "B-third")]
    found = Found(
        np.eye(4)[[1, 1, 1, 2, 2, 3]],
        {"texts": [text]},
        Known({"room": 4, "marks": marks}, chunks=lambda *_: pieces),
        np.array([3, 2, 1]),
    )
    ((spans,), *_) = Tag().answer(found)
    assert [(span["label"], span["text"]) for span in spans] == [
        ("first", "a"),
        ("first", "bc"),
        ("first", "de"),
        ("second", "fg"),
        ("third", "h"),
    ]
