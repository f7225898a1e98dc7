"""Normalisation to mean 0 and variance 1 against its formula."""

from __future__ import annotations

import math
import statistics

import numpy as np
import pytest
from pydantic import ValidationError

from polybake.errors import InputError
from polybake.steps import LayerNorm

RANDOM = np.random.default_rng(12)
X = (RANDOM.normal(size=(3, 7)) * [[1], [0.01], [30]] + 2).astype(np.float32)
WEIGHT = RANDOM.normal(size=7).astype(np.float32)
BIAS = RANDOM.normal(size=7).astype(np.float32)
MASK = np.ones((3, 2), np.int64)


def normal(eps: float) -> np.ndarray:
    """The rows normalised by their mean and population variance."""
    return np.array(
        [
            [(v - statistics.fmean(row)) / math.sqrt(statistics.pvariance(row) + eps) for v in row]
            for row in X.tolist()
        ]
    )


def test_scales_and_shifts(run_step, opset: int) -> None:
    """The normal form is multiplied by the weight and shifted by the bias, at every opset."""
    step = LayerNorm(weight=WEIGHT, bias=BIAS)
    expected = normal(1e-5) * WEIGHT + BIAS
    assert run_step(step, X, MASK, opset) == pytest.approx(expected, abs=1e-4)
    assert step.formula(X.astype(np.float64)) == pytest.approx(expected, abs=1e-9)


def test_without_parameters(run_step, opset: int) -> None:
    """A norm without weight and bias gives the normal form itself; eps counts."""
    step = LayerNorm(eps=0.01)
    assert run_step(step, X, MASK, opset) == pytest.approx(normal(0.01), abs=1e-5)
    assert step.formula(X.astype(np.float64)) == pytest.approx(normal(0.01), abs=1e-9)


def test_works_on_tokens(run_step) -> None:
    """Token embeddings are normalised one by one, and equal elements give zeros."""
    tokens = np.stack([X, np.ones_like(X)])
    found = run_step(LayerNorm(eps=0.01), tokens, np.ones((2, 3), np.int64))
    assert found[0] == pytest.approx(normal(0.01), abs=1e-5)
    assert not found[1].any()


@pytest.mark.parametrize("parameters", [{"weight": WEIGHT[:6]}, {"bias": BIAS[:6]}])
def test_names_both_sizes(run_step, parameters: dict[str, np.ndarray]) -> None:
    """A layer for another encoder is an error with both sizes."""
    with pytest.raises(InputError, match="takes 6 elements and the embedding has 7"):
        run_step(LayerNorm(**parameters), X, MASK)


@pytest.mark.parametrize(
    ("parameters", "shown"),
    [
        ({"eps": 0.0}, "greater than 0"),
        ({"weight": WEIGHT, "bias": BIAS[:6]}, "has 6 elements and the weight 7"),
        ({"weight": np.float32([[1, 2]])}, r"expected one row of finite numbers.*\[1, 2\]"),
    ],
)
def test_refuses_wrong_parameters(parameters: dict[str, object], shown: str) -> None:
    """An eps that guards nothing and shapes that do not fit are refused."""
    with pytest.raises(ValidationError, match=shown):
        LayerNorm(**parameters)


def test_reads_as_in_the_manifest() -> None:
    """The step shows sizes and eps."""
    assert str(LayerNorm(weight=WEIGHT, bias=BIAS)) == "layer_norm(weight=7, bias=7, eps=1e-05)"
    assert str(LayerNorm()) == "layer_norm(eps=1e-05)"
