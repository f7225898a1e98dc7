"""Texts become arrays, and vectors, in batches."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from threading import Lock

import numpy as np
import pytest

from models.files.every_feed import expected, tokenizer
from models.onnx.tiny_onnx import encoder, write_encoder
from polybake.base.modelfile.manifest import Contract, Input, Output
from polybake.errors import CheckFailed, InputError
from polybake.runtime.embedder import Embedder
from polybake.runtime.feeds import feeds
from polybake.runtime.runner import Runner
from polybake.runtime.session import open_session
from polybake.runtime.tokenizer import BakedTokenizer

TEXTS = [letter * count for count in range(1, 40) for letter in ("a", "b c ", "d, e. ", "")]


def by_hand(texts: list[str], before: str, value: int) -> np.ndarray:
    rows = [tokenizer().encode(before + text).ids for text in texts]
    return np.stack([expected(row, value, "right") for row in rows])


@pytest.mark.parametrize("at_once", [1, 3])
def test_each_text_gets_its_vector(every_feed: Path, at_once: int) -> None:
    """Vectors keep the order of the texts, whatever shared a batch, and have the prompt's value."""
    runner = Embedder(every_feed, threads=1, at_once=at_once).runner
    plain = runner.embed(runner.ids(TEXTS))
    assert plain == pytest.approx(by_hand(TEXTS, "", 0), abs=1e-6)
    query = runner.embed(runner.ids(TEXTS, "document"), "document")
    assert query == pytest.approx(by_hand(TEXTS, "passage: ", 2), abs=1e-6)


def test_equal_rows_give_equal_batches(every_feed: Path) -> None:
    """Batches do not depend on how many run side by side, so neither do the last bits."""
    rows = Embedder(every_feed).runner.ids(TEXTS)
    one, other = (Embedder(every_feed, threads=1, at_once=n).runner.embed(rows) for n in (1, 4))
    assert one.tobytes() == other.tobytes()


@pytest.mark.parametrize(
    ("budget", "lengths", "expected"),
    [
        (512, [600, 100, 0, 130, *[100] * 5], [[600], [130, 100, 100], [100, 100, 100, 100, 0]]),
        (16 * 512, [1024] * 9, [[1024] * 4, [1024] * 4, [1024]]),
    ],
)
def test_batches_begin_with_the_longest(
    budget: int,
    lengths: list[int],
    expected: list[list[int]],
    every_feed: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Rows times the longest of them is at most the budget; a longer row stands alone.

    A budget of 16 times the tokens allows only 16 times the pairs: 4 rows of 1,024, not 8.
    """
    runner, ran = replace(Embedder(every_feed, at_once=1).runner, budget=budget), []

    def vectors(_: Runner, rows: list[list[int]], _prompt: object) -> np.ndarray:
        ran.append([len(row) for row in rows])
        return np.zeros((len(rows), 7), np.float32)

    monkeypatch.setattr(Runner, "vectors", vectors)
    runner.embed([[0] * length for length in lengths])
    assert ran == expected


def test_no_rows_give_no_vectors(every_feed_int8: Path) -> None:
    """The result has the model's dtype and dimension."""
    found = Embedder(every_feed_int8).runner.embed([])
    assert (found.shape, found.dtype) == ((0, 7), np.int8)


def test_an_unknown_prompt_names_the_choices(every_feed: Path) -> None:
    """An unknown prompt is refused for ids and for vectors, instead of being replaced."""
    runner = Embedder(every_feed).runner
    for call in (lambda: runner.ids(["a"], "title"), lambda: runner.vectors([[1]], "title")):
        with pytest.raises(InputError, match="unknown prompt 'title'; choose one of: query, doc"):
            call()


def contract(**changes: object) -> Contract:
    fields = {
        "inputs": tuple(Input(name=name, feed=name) for name in ("input_ids", "attention_mask")),
        "output": Output(name="last_hidden_state", dimension=6),
        "vocab_size": 100,
        "max_length": 8,
        "pad_id": 0,
    }
    return Contract.model_validate(fields | changes)


def test_rows_run_as_one_batch(tmp_path: Path) -> None:
    """Rows go through together and the named outputs come back, padded further on request."""
    words = BakedTokenizer(tokenizer().to_str(), 8, 0, "right")
    runner = Runner(open_session(write_encoder(tmp_path)), contract(), words)
    assert runner.vectors([[5, 6, 7], [8]]).shape == (2, 3, 6)
    assert runner.vectors([[5, 6, 7], [8]], length=5).shape == (2, 5, 6)


def test_a_model_that_stops_is_one_line(tmp_path: Path) -> None:
    """The message says at how many rows of how many tokens."""
    words = BakedTokenizer(tokenizer().to_str(), 8, 0, "right")
    runner = Runner(open_session(write_encoder(tmp_path, encoder())), contract(), words)
    shown = r"does not run on input_ids \[1, 2\], attention_mask \[1, 2\] \(.*trained with"
    with pytest.raises(CheckFailed, match=shown) as caught:
        runner.vectors([[5, 10**6]])
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("threads", "expected"), [(1, 2), (2, 1)])
def test_long_rows_run_alone_where_they_have_threads(
    every_feed: Path, monkeypatch: pytest.MonkeyPatch, threads: int, expected: int
) -> None:
    """Long rows run alone if a run has several threads; short ones always run side by side."""
    monkeypatch.setattr("polybake.runtime.session.processors", lambda: 2)
    runner = Embedder(every_feed, threads=threads, at_once=2).runner
    found = most_at_once(runner, [[0] * 600] * 4 + [[0] * 400] * 4, monkeypatch)
    assert found == {600: expected, 400: 2}


def test_attention_bounds_what_runs_side_by_side(
    every_feed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Batches at once have at most the pairs of 8,192 tokens, unless one text alone has more."""
    runner = Embedder(every_feed, threads=1, at_once=5).runner
    lengths = (8193, 8192, 5792, 4096, 512)
    found = most_at_once(runner, [[0] * n for n in lengths for _ in range(6)], monkeypatch)
    assert found == dict(zip(lengths, (1, 1, 2, 4, 5), strict=True))


def most_at_once(
    runner: Runner, rows: list[list[int]], monkeypatch: pytest.MonkeyPatch
) -> dict[int, int]:
    """How many batches ran at a time at most, by the tokens of their rows."""
    running, found, lock = 0, dict[int, int](), Lock()

    def vectors(_: Runner, rows: list[list[int]], _prompt: object) -> np.ndarray:
        nonlocal running
        with lock:
            running += 1
        time.sleep(0.05)
        with lock:
            found[len(rows[0])] = max(running, found.get(len(rows[0]), 0))
            running -= 1
        return np.zeros((len(rows), 7), np.float32)

    monkeypatch.setattr(Runner, "vectors", vectors)
    runner.embed(rows)
    return found


@pytest.mark.parametrize(("threads", "expected"), [(None, 6), (1, 6), (2, 3), (4, 1)])
def test_batches_fill_the_processors(
    every_feed: Path, monkeypatch: pytest.MonkeyPatch, threads: int | None, expected: int
) -> None:
    """The number of batches at once is the processors divided by threads, as in the clients."""
    for module in ("embedder", "session"):
        monkeypatch.setattr(f"polybake.runtime.{module}.processors", lambda: 6)
    assert Embedder(every_feed, threads=threads).runner.at_once == expected


FED = contract(
    inputs=(
        Input(name="ids", feed="input_ids"),
        Input(name="mask", feed="attention_mask"),
        Input(name="types", feed="token_type_ids"),
        Input(name="places", feed="position_ids"),
        Input(name="prompt", feed="prompt_value", values={"": 0, "query": 4}),
    ),
    pad_id=9,
)
ROWS = [[5, 6, 7], [8]]


def test_feeds_every_input() -> None:
    """Each feed follows the contract, with padding on the right."""
    fed = feeds(FED, ROWS, "query")
    assert {name: array.tolist() for name, array in fed.items()} == {
        "ids": [[5, 6, 7], [8, 9, 9]],
        "mask": [[1, 1, 1], [1, 0, 0]],
        "types": [[0, 0, 0], [0, 0, 0]],
        "places": [[0, 1, 2], [0, 0, 0]],
        "prompt": [4],
    }
    assert {array.dtype for array in fed.values()} == {np.dtype(np.int64)}
    assert feeds(FED, ROWS)["prompt"].tolist() == [0]


def test_feeds_padding_on_the_left_and_further() -> None:
    """Positions start at the first token; a length below the longest row's changes nothing."""
    fed = feeds(FED.model_copy(update={"pad_side": "left"}), ROWS)
    assert fed["ids"].tolist() == [[5, 6, 7], [9, 9, 8]]
    assert fed["mask"].tolist() == [[1, 1, 1], [0, 0, 1]]
    assert fed["places"].tolist() == [[0, 1, 2], [0, 0, 0]]
    assert feeds(FED, ROWS, length=5)["mask"].tolist() == [[1, 1, 1, 0, 0], [1, 0, 0, 0, 0]]
    assert feeds(FED, ROWS, length=2)["ids"].shape == (2, 3)
