"""A bake's proof: every fault of a step stops it, and the message says whose fault it is."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from models.folders.tiny_folders import write_bert
from polybake.baking.bake import bake
from polybake.baking.prove.proof import at_fault, telling_cases
from polybake.baking.sources import open_source
from polybake.base.modelfile.fixture import Case, encode_vectors
from polybake.base.modelfile.manifest import Contract, Input, Output
from polybake.errors import CheckFailed
from polybake.steps import Arrays, Floats, Normalize, Pool, Quantize, Scale, Step

X = np.array([[3.0, 4.0], [0.0, 1.0]])
STEPS: list[Step] = [Scale(factor=2.0), Normalize()]
RANGES = np.tile(np.float32([[-2.0], [2.0]]), 12)


class WrongLevels(Quantize):
    """A step whose NumPy form turns the lowest bit of every integer."""

    def formula(self, x: Floats) -> NDArray[np.int8 | np.uint8]:
        return super().formula(x) ^ 1


class WrongScale(Scale):
    """A step whose NumPy form differs for calls with a prompt."""

    def numpy(self, state: Arrays) -> Arrays:
        wrong = state.prompt_length is not None and state.prompt_length.item() > 0
        return state.becomes(state.x * (self.factor + 0.1 * wrong))


def refused(tmp_path: Path, steps: list[Step], **options: object) -> str:
    source = open_source(write_bert(tmp_path / "model"))
    with pytest.raises(CheckFailed) as caught:
        bake(source, steps, tmp_path / "out.onnx", name="tiny", **options)  # type: ignore[arg-type]
    assert not (tmp_path / "out.onnx").exists()
    return str(caught.value)


@pytest.mark.parametrize("precision", ["int8", "uint8", "binary", "ubinary"])
def test_integers_are_judged(tmp_path: Path, precision: str) -> None:
    """An integer that differs by more than its slack is a fault."""
    pool = Pool(mode=("mean", "cls"))  # 24 elements fill bytes
    ranges = np.tile(RANGES, 2) if precision in ("int8", "uint8") else None
    message = refused(tmp_path, [pool, WrongLevels(precision=precision, ranges=ranges)])
    assert re.search(r"differs from its source in case plain by more than rounding in", message)


def test_every_prompt_is_proven(tmp_path: Path) -> None:
    """A fault that only a prompt shows is found, however many tokens the cases before it have."""
    steps = [WrongScale(factor=3.0), Pool(mode="mean", include_prompt=False)]
    message = refused(tmp_path, steps, prompts={"query": "the water: "})
    assert "in case prompt-1-query by " in message


def case(name: str, tokens: int, prompt: str | None = None, rows: int = 1) -> Case:
    return Case(
        id=name,
        why="Its size and prompt count.",
        prompt=prompt,
        texts=("t",) * rows,
        input_ids=((1,) * tokens,) * rows,
        embeddings=encode_vectors(np.zeros((rows, 2), np.float32)),
    )


def test_cases_are_chosen_by_their_tokens_and_prompts() -> None:
    """400 tokens in all, and one case of each prompt beyond them; the default is one, too."""
    contract = Contract(
        inputs=(Input(name="input_ids", feed="input_ids"),),
        output=Output(name="sentence_embedding", dimension=2),
        vocab_size=2,
        max_length=512,
        pad_id=0,
        prompts={"a": "a", "b": "b"},
        default_prompt="a",
    )
    cases = [
        case("first", 300),
        case("too-long", 101),
        case("batch", 50, rows=2),
        case("again-a", 1, "a"),
        case("b", 500, "b"),
        case("again-b", 1, "b"),
        case("empty", 0, "b"),
    ]
    chosen = [one.id for one in telling_cases(cases, contract)]
    assert chosen == ["first", "batch", "b"]


@pytest.mark.parametrize(
    ("results", "shown"),
    [
        ([X * np.nan, X, X], "the encoder alone gives NaN or infinity; mend"),
        ([X, X - np.inf, X], r"the step scale\(factor=2\.0\) gives NaN or infinity; mend"),
        ([X, X * 1e-7, X], r"the step scale\(factor=2\.0\) leaves less than 0\.001 of .*; let it"),
        ([X, X, X], r"two forms of a step differ, of: scale\(factor=2\.0\), normalize\(\); let"),
    ],
)
def test_names_the_first_stage_at_fault(results: list[NDArray[np.float64]], shown: str) -> None:
    """NaN and nothing but rounding belong to one stage; else the forms of a step differ."""
    assert re.search(shown, at_fault(results, STEPS))


def test_an_encoder_without_steps() -> None:
    """An encoder without steps that differs from itself draws random numbers."""
    assert at_fault([X], []).endswith("export it without random numbers")
