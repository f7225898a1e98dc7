"""What layers compute of each token by itself, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from onnxscript import ir

from models.parts.tiny_encoders import run_graph
from polybake.baking.layers.activations import ACTIVATIONS
from polybake.baking.layers.embedding import Embedding, PositionEmbedding, ScaledEmbedding
from polybake.baking.layers.experts import MixtureOfExperts

RANDOM = np.random.default_rng(3)
TABLE = np.arange(15, dtype=np.float32).reshape(5, 3)
IDS = np.array([[4, 0, 2], [1, 1, 3]])
#: Published values at 1 and -2.
VALUES = {
    "identity": (1.0, -2.0),
    "gelu": (0.8413447461, -0.0455002639),
    "gelu_tanh": (0.8411919906, -0.0454023059),
    "quick_gelu": (0.8457957659, -0.0643413769),
    "relu": (1.0, 0.0),
    "sigmoid": (0.7310585786, 0.1192029220),
    "silu": (0.7310585786, -0.2384058440),
    "tanh": (0.7615941560, -0.9640275801),
}


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations_have_published_values(name: str) -> None:
    """In NumPy, and in a graph."""
    x = np.array([1.0, -2.0])
    np.testing.assert_allclose(ACTIVATIONS[name].numpy(x), VALUES[name], atol=1e-9)
    found = run_graph(
        lambda op, x: op.Identity(ACTIVATIONS[name].build(op, x)), x=x.astype(np.float32)
    )
    np.testing.assert_allclose(found, VALUES[name], atol=1e-6)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (Embedding, TABLE[IDS]),
        (ScaledEmbedding, TABLE[IDS] * np.sqrt(3.0)),
        (PositionEmbedding, TABLE[:3]),
    ],
)
def test_rows_of_a_table(kind: type[Embedding], expected: np.ndarray) -> None:
    """By id, times the root of their size as Gemma's are, or the first ones by place."""
    embedding = kind(5, 3)
    embedding.load_state_dict({"weight": ir.tensor(TABLE)})
    np.testing.assert_allclose(run_graph(embedding, ids=IDS), expected, rtol=1e-6)


@pytest.mark.parametrize("top", [1, 2, 4])
@pytest.mark.parametrize("chosen", [True, False])
def test_a_token_takes_its_largest_experts(top: int, chosen: bool) -> None:
    """By their shares of all; an expert that nobody chooses adds nothing."""
    made = MixtureOfExperts(5, 7, "relu", experts=4, top=top)
    weights = {}
    for name, parameter in made.named_parameters():
        assert parameter.shape is not None
        weights[name] = RANDOM.normal(0, 1, parameter.shape.numpy()).astype(np.float32)
        if name == "router.layer.weight" and not chosen:
            weights[name] = np.eye(5, 4, 2, dtype=np.float32)
        parameter.const_value = ir.tensor(weights[name])
    x = np.abs(RANDOM.normal(0, 1, (2, 3, 5))).astype(np.float32)

    def of_token(token: np.ndarray) -> np.ndarray:
        scores = np.exp(token @ weights["router.layer.weight"])
        shares = scores / scores.sum()
        total = weights["experts.bias"].astype(np.float64)
        for one in np.argsort(-shares, kind="stable")[:top]:
            w1, w2 = (weights[f"experts.mlp.{one}.{name}.weight"] for name in ("w1", "w2"))
            total = total + shares[one] * (np.maximum(token @ w1, 0) @ w2)
        return total

    expected = [[of_token(token) for token in text] for text in x.astype(np.float64)]
    np.testing.assert_allclose(run_graph(made, x=x), expected, atol=1e-5)
