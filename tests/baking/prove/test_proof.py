"""A bake's proof: a fault of a step or of the encoder stops it, and the message says whose."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray

from models.bake import bake
from models.folders.tiny_folders import write_bert
from models.onnx.tiny_onnx import BODY, HIDDEN, INPUTS, POOLED, TOKENS, encoder, write_encoder
from polybake.baking.prove.invariance import check_invariance, measure_invariance
from polybake.baking.prove.proof import at_fault, telling_cases
from polybake.baking.recipe.resolve import resolve
from polybake.baking.sources import open_source
from polybake.base.modelfile.fixture import Case, encode_vectors
from polybake.base.modelfile.manifest import Contract, Input, Output
from polybake.errors import CheckFailed, InputError, RunFailed
from polybake.runtime.runner import Rows
from polybake.steps import Arrays, Floats, Normalize, Pool, Quantize, Scale, Step

X = np.array([[3.0, 4.0], [0.0, 1.0]])
STEPS: list[Step] = [Scale(factor=2.0), Normalize()]
RANGES = np.tile(np.float32([[-2.0], [2.0]]), 24)
MEAN = {"step": "pool", "mode": "mean"}


class WrongLevels(Quantize):
    """A step whose NumPy form turns the lowest bit of every integer."""

    def formula(self, x: Floats) -> NDArray[np.int8 | np.uint8]:
        return super().formula(x) ^ 1


class WrongScale(Scale):
    """A step whose NumPy form differs for calls with a prompt."""

    def numpy(self, state: Arrays) -> Arrays:
        wrong = state.prompt_length is not None and state.prompt_length.item() > 0
        return state.becomes(state.x * (self.factor + 0.1 * wrong))


def refused(
    tmp_path: Path, model: Path, steps: Sequence[Step | dict[str, str]], **options: object
) -> str:
    """Why a bake is refused; nothing is written."""
    source = open_source(model)
    specs = [step for step in steps if isinstance(step, dict)]
    resolved = resolve(specs, base=tmp_path, source=source) if specs else steps
    with pytest.raises((CheckFailed, InputError, RunFailed)) as caught:
        bake(source, resolved, tmp_path / "out.onnx", name="tiny", **options)  # type: ignore[arg-type]
    assert not (tmp_path / "out.onnx").exists()
    return str(caught.value)


@pytest.mark.parametrize("precision", ["int8", "uint8", "binary", "ubinary"])
def test_integers_are_judged(tmp_path: Path, precision: str) -> None:
    """An integer that differs by more than its slack is a fault."""
    pool = Pool(mode=("mean", "cls"))  # 24 elements fill bytes
    ranges = RANGES if precision in ("int8", "uint8") else None
    steps = [pool, WrongLevels(precision=precision, ranges=ranges)]
    message = refused(tmp_path, write_bert(tmp_path / "model"), steps)
    assert "differs from its source in case plain by more than rounding in" in message


def test_every_prompt_is_proven(tmp_path: Path) -> None:
    """A fault that only a prompt shows is found, however many tokens the cases before it have."""
    steps = [WrongScale(factor=3.0), Pool(mode="mean", include_prompt=False)]
    model = write_bert(tmp_path / "model")
    message = refused(tmp_path, model, steps, prompts={"query": "the water: "})
    assert "in case prompt-1-query by " in message


@pytest.mark.parametrize(
    ("results", "shown"),
    [
        ([X * np.nan, X, X], "the encoder alone gives NaN or infinity; mend"),
        ([X, X - np.inf, X], r"the step scale\(factor=2\.0\) gives NaN or infinity; mend"),
        ([X, X * 1e-7, X], r"the step scale\(factor=2\.0\) leaves less than 0\.001 of .*; let it"),
        ([X, X, X], r"two forms of a step differ, of: scale\(factor=2\.0\), normalize\(\); let"),
        ([X], "export it without random numbers$"),
    ],
)
def test_names_the_first_stage_at_fault(results: list[NDArray[np.float64]], shown: str) -> None:
    """NaN and nothing but rounding belong to one stage; else the forms of a step differ."""
    assert re.search(shown, at_fault(results, STEPS[: len(results) - 1]))


MIXED = "mean = ReduceMean <axes = [0]> (total) pooler_output = Sub (total, mean)"
PADDED = "mean = ReduceMean <axes = [1], keepdims = 0> (rows) pooler_output = Add (total, mean)"
SUMMED = "pooler_output = ReduceMean <axes = [0], keepdims = 1> (total)"
DIFFERS = r"differs from each text alone, in a batch by .*the encoder alone does, too"
MEANS = """
def step(op, embedding):
    return op.Sub(embedding, op.ReduceMean(embedding, axes=[0]))
def reference(embedding):
    return embedding - embedding.mean(axis=0)
"""


@pytest.mark.parametrize(
    ("change", "shown"),
    [
        (MIXED, DIFFERS),
        (PADDED, DIFFERS),
        (SUMMED, r"gives \d vectors for \d texts; nothing was written"),
    ],
    ids=["neighbours", "padding", "one vector of all"],
)
def test_blames_the_encoder(change: str, shown: str, tmp_path: Path) -> None:
    """An encoder whose vectors depend on others, or that joins texts, is to be exported again."""
    body = BODY.replace("pooler_output = Div (total, count)", change)
    model = write_encoder(tmp_path / "model", encoder(body=body, outputs=POOLED))
    assert re.search(shown, refused(tmp_path, model, []))


def test_blames_the_steps(tmp_path: Path) -> None:
    """A step that mixes texts, in both of its forms, is named, and not the encoder."""
    (tmp_path / "own.py").write_text(MEANS, encoding="utf-8")
    steps = [MEAN, {"step": "python", "file": "own.py"}]
    message = refused(tmp_path, write_encoder(tmp_path / "model"), steps)
    shown = r"the encoder alone does not, so one of the steps does: .*python\(file=own.py.*itself"
    assert re.search(shown, message)


def reshaped(shape: Sequence[int], outputs: str) -> onnx.ModelProto:
    """An encoder that reshapes its embeddings to numbers, as code with ``int(x.shape[0])`` does."""
    embedded = "flat = Tanh (rows)\nlast_hidden_state = Reshape (flat, shape)"
    model = encoder(body=BODY.replace("last_hidden_state = Tanh (rows)", embedded), outputs=outputs)
    sizes = np.array([*shape, HIDDEN], np.int64)
    model.graph.initializer.append(onnx.numpy_helper.from_array(sizes, "shape"))
    return model


@pytest.mark.parametrize(
    ("outputs", "step"),
    [
        (TOKENS, MEAN),
        (TOKENS, {"step": "pool", "mode": "cls"}),
        (POOLED, {"step": "normalize"}),
    ],
    ids=["mean", "cls", "pooled"],
)
@pytest.mark.parametrize(
    ("shape", "shown"),
    [
        ((1, -1), "one text but not two: a batch size of 1"),
        ((2, -1), "2 texts but not one: a batch size of 2"),
        ((-1, 3), "3 tokens but not 4: a sequence length of 3"),
        ((-1, 5), "5 tokens but not 3: a sequence length of 5"),
    ],
)
def test_a_size_of_the_exporters_example_is_named(
    shape: tuple[int, int], shown: str, outputs: str, step: dict[str, str], tmp_path: Path
) -> None:
    """Found by what runs and what does not; the tokenizer is not blamed."""
    path = write_encoder(tmp_path / "m", reshaped(shape, outputs))
    assert f"the graph runs on {shown} is a " in refused(tmp_path, path, [step])


def test_fewer_positions_than_the_tokenizer_leaves(tmp_path: Path) -> None:
    """Short texts run, of any number, so that no size of the example is blamed."""
    embedded = "places = Gather (positions, position_ids)\nlast_hidden_state = Add (rows, places)"
    model = encoder(
        body=BODY.replace("last_hidden_state = Tanh (rows)", embedded),
        inputs=f"{INPUTS}, int64[batch_size, length] position_ids",
    )
    positions = np.zeros((10, HIDDEN), np.float32)
    model.graph.initializer.append(onnx.numpy_helper.from_array(positions, "positions"))
    path = write_encoder(tmp_path / "m", model)
    assert "give it the tokenizer that it was trained with" in refused(tmp_path, path, [MEAN])


def case(name: str, tokens: int, prompt: str | None = None, rows: int = 1) -> Case:
    return Case(
        id=name,
        why="Its size and prompt count.",
        prompt=prompt,
        texts=("t",) * rows,
        input_ids=(tuple(range(1, tokens + 1)),) * rows,
        embeddings=encode_vectors(np.zeros((rows, 2), np.float32)),
    )


def contract(*inputs: Input, **more: object) -> Contract:
    output = Output(name="sentence_embedding", dimension=2)
    return Contract(inputs=inputs, output=output, max_length=512, pad_id=0, **more)  # type: ignore[arg-type]


def test_cases_are_chosen_by_their_tokens_and_prompts() -> None:
    """400 tokens in all, and one case of each prompt beyond them; the default is one, too."""
    cases = [
        case("first", 300),
        case("too-long", 101),
        case("batch", 50, rows=2),
        case("again-a", 1, "a"),
        case("b", 500, "b"),
        case("again-b", 1, "b"),
        case("empty", 0, "b"),
    ]
    prompts = {"prompts": {"a": "a", "b": "b"}, "default_prompt": "a"}
    asked = contract(Input(name="input_ids", feed="input_ids"), vocab_size=999, **prompts)
    assert [one.id for one in telling_cases(cases, asked)] == ["first", "batch", "b"]


GOLDEN = [case("long", 20), *(case(str(size), size) for size in range(2, 10)), case("p", 1, "a")]


def measured(fault: Callable[[int, int, str | None], float]) -> dict[str, float]:
    """The invariance of a model whose vectors move by ``fault`` of rows, width and prompt."""

    def run(rows: Rows, length: int, prompt: str | None) -> list[np.ndarray]:
        width = max(length, *map(len, rows))
        change = fault(len(rows), width, prompt)
        return [np.array([[len(row), 1.0]]) / np.hypot(len(row), 1) + change for row in rows]

    route = Input(name="route", feed="prompt_value", values={"": 0, "a": 1})
    return measure_invariance(GOLDEN, contract(route, vocab_size=99, prompts={"a": "a"}), run)


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
