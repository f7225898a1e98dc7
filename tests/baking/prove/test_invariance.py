"""A vector that depends on its batch or on padding: the encoder or a step is blamed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from models.onnx.tiny_onnx import BODY, POOLED, encoder, write_encoder
from polybake.baking.bake import bake
from polybake.baking.prove.invariance import check_invariance, measure_invariance
from polybake.baking.recipe.resolve import resolve
from polybake.baking.sources import open_source
from polybake.base.modelfile.fixture import Case, encode_vectors
from polybake.base.modelfile.manifest import Contract, Input, Output
from polybake.errors import CheckFailed
from polybake.runtime.runner import Rows

MIXED = "mean = ReduceMean <axes = [0]> (total) pooler_output = Sub (total, mean)"
PADDED = "mean = ReduceMean <axes = [1], keepdims = 0> (rows) pooler_output = Add (total, mean)"

SUMMED = "pooler_output = ReduceMean <axes = [0], keepdims = 1> (total)"


@pytest.mark.parametrize(
    ("change", "shown"),
    [
        (MIXED, r"differs from each text alone, in a batch by .*the encoder alone does, too; exp"),
        (PADDED, r"differs from each text alone, in a batch by .*the encoder alone does, too; exp"),
    ],
    ids=["neighbours", "padding"],
)
def test_blames_the_encoder(change: str, shown: str, tmp_path: Path) -> None:
    """An encoder that differs by itself is to be exported again."""
    body = BODY.replace("pooler_output = Div (total, count)", change)
    source = open_source(write_encoder(tmp_path / "model", encoder(body=body, outputs=POOLED)))
    with pytest.raises(CheckFailed, match=shown):
        bake(source, [], tmp_path / "out.onnx", name="tiny")


MEANS = """
def step(op, embedding):
    return op.Sub(embedding, op.ReduceMean(embedding, axes=[0]))
def reference(embedding):
    return embedding - embedding.mean(axis=0)
"""


def test_blames_the_steps(tmp_path: Path) -> None:
    """A step that mixes texts, in both of its forms, is named, and not the encoder."""
    source = open_source(write_encoder(tmp_path / "model"))
    (tmp_path / "own.py").write_text(MEANS, encoding="utf-8")
    specs = [{"step": "pool", "mode": "mean"}, {"step": "python", "file": "own.py"}]
    steps = resolve(specs, base=tmp_path, source=source)
    shown = r"the encoder alone does not, so one of the steps does: .*python\(file=own.py.*itself"
    with pytest.raises(CheckFailed, match=rf"in a batch by .*written; {shown}"):
        bake(source, steps, tmp_path / "out.onnx", name="tiny")


def case(name: str, tokens: int, prompt: str | None = None) -> Case:
    return Case(
        id=name,
        why="Its length counts.",
        prompt=prompt,
        texts=("t",),
        input_ids=(tuple(range(1, tokens + 1)),),
        embeddings=encode_vectors(np.zeros((1, 2), np.float32)),
    )


CONTRACT = Contract(
    inputs=(Input(name="route", feed="prompt_value", values={"": 0, "a": 1}),),
    output=Output(name="sentence_embedding", dimension=2),
    vocab_size=99,
    max_length=30,
    pad_id=0,
    prompts={"a": "a"},
)
GOLDEN = [case("long", 20), *(case(str(size), size) for size in range(2, 10)), case("p", 1, "a")]


def measured(fault: Callable[[int, int, str | None], float]) -> dict[str, float]:
    """The invariance of a model whose vectors move by ``fault`` of rows, width and prompt."""

    def run(rows: Rows, length: int, prompt: str | None) -> list[np.ndarray]:
        width = max(length, *map(len, rows))
        change = fault(len(rows), width, prompt)
        return [np.array([[len(row), 1.0]]) / np.hypot(len(row), 1) + change for row in rows]

    return measure_invariance(GOLDEN, CONTRACT, run)


def test_neighbours_and_padding_are_told_apart() -> None:
    """A batch is no wider than its longest row; for padding it is twice as wide."""
    assert measured(lambda *_: 0.0) == {"batch": 0.0, "padding": 0.0}
    several = measured(lambda rows, _width, _prompt: 0.1 * (rows > 1))
    assert several == pytest.approx({"batch": 0.1, "padding": 0.1})
    padded = measured(lambda _rows, width, _prompt: 0.1 * (width > 8))
    assert padded == pytest.approx({"batch": 0.0, "padding": 0.1})


def test_the_shortest_texts_go_together() -> None:
    """The batch holds the seven shortest texts that have no prompt of their own."""
    seen = []
    measured(lambda rows, width, prompt: seen.append((rows, width, prompt)) or 0.0)
    assert set(seen) == {(1, size, who) for size in range(2, 9) for who in (None, "a")} | {
        (7, width, who) for width in (8, 16) for who in (None, "a")
    }


def test_every_prompt_that_feeds_a_value_is_measured() -> None:
    """A route that calls without a prompt never take may differ alone."""
    found = measured(lambda rows, _width, prompt: 0.1 * (rows > 1 and prompt == "a"))
    assert found == pytest.approx({"batch": 0.1, "padding": 0.1})


@pytest.mark.parametrize("alone", [True, False])
def test_nan_is_never_taken_for_equal(alone: bool) -> None:
    """NaN is a difference, whether a text gives it alone or only among others."""
    found = measured(lambda rows, _width, _prompt: np.nan if (rows == 1) is alone else 0.0)
    assert all(np.isnan(one) for one in found.values())
    with pytest.raises(CheckFailed, match=r"gives NaN or infinity .*the encoder alone does, too"):
        check_invariance(found, lambda: found, [])
    with pytest.raises(CheckFailed, match="the encoder alone does not, so one of the steps does"):
        check_invariance(found, lambda: {"batch": 0.0, "padding": 0.0}, [])


def test_a_graph_gives_one_vector_a_text(tmp_path: Path) -> None:
    """A graph that drops or joins texts is refused with both counts."""
    body = BODY.replace("pooler_output = Div (total, count)", SUMMED)
    source = open_source(write_encoder(tmp_path / "model", encoder(body=body, outputs=POOLED)))
    with pytest.raises(CheckFailed, match=r"gives \d vectors for \d texts; nothing was written"):
        bake(source, [], tmp_path / "out.onnx", name="tiny")
