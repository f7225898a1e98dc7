"""A mixture of experts against its sum over all of them."""

from __future__ import annotations

import numpy as np
import pytest
from onnxscript import ir

from models.parts.tiny_encoders import run_graph
from polybake.baking.layers.experts import MixtureOfExperts

SIZE, WIDE, EXPERTS = 5, 7, 4
RANDOM = np.random.default_rng(3)
X = RANDOM.normal(0, 1, (2, 3, SIZE)).astype(np.float32)


def mixture(top: int, router: np.ndarray) -> tuple[MixtureOfExperts, dict[str, np.ndarray]]:
    """A mixture with drawn weights, and these by name."""
    made = MixtureOfExperts(SIZE, WIDE, "relu", experts=EXPERTS, top=top)
    weights = {}
    for name, parameter in made.named_parameters():
        assert parameter.shape is not None
        drawn = RANDOM.normal(0, 1, parameter.shape.numpy()).astype(np.float32)
        weights[name] = router if name == "router.layer.weight" else drawn
        parameter.const_value = ir.tensor(weights[name])
    return made, weights


def expected(x: np.ndarray, w: dict[str, np.ndarray], top: int) -> np.ndarray:
    """The formula, a token at a time, with every expert."""
    scores = np.exp(x @ w["router.layer.weight"])
    shares = scores / scores.sum()
    kept = np.where(shares >= np.sort(shares)[-top], shares, 0)
    blocks = [
        np.maximum(x @ w[f"experts.mlp.{one}.w1.weight"], 0) @ w[f"experts.mlp.{one}.w2.weight"]
        for one in range(EXPERTS)
    ]
    result: np.ndarray = sum(kept[one] * blocks[one] for one in range(EXPERTS))
    return result + w["experts.bias"]


@pytest.mark.parametrize("top", [1, 2, EXPERTS])
def test_a_token_takes_its_largest(top: int) -> None:
    """Each token's own experts count, by their shares of all."""
    router = RANDOM.normal(0, 1, (SIZE, EXPERTS)).astype(np.float32)
    made, weights = mixture(top, router)
    found = run_graph(made, x=X)
    wanted = [[expected(token, weights, top) for token in text] for text in X.astype(np.float64)]
    np.testing.assert_allclose(found, wanted, atol=1e-5)


def test_an_expert_may_have_no_token() -> None:
    """An expert that nobody chooses computes nothing, and adds nothing."""
    router = np.zeros((SIZE, EXPERTS), np.float32)
    router[0, 2] = 1.0
    made, weights = mixture(1, router)
    x = np.abs(X) + 1
    wanted = [[expected(token, weights, 1) for token in text] for text in x.astype(np.float64)]
    np.testing.assert_allclose(run_graph(made, x=x), wanted, atol=1e-5)
