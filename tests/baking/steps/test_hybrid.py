"""Three outputs of the same token embeddings."""

from __future__ import annotations

import numpy as np
import pytest

from polybake.baking.steps import Dense, Hybrid, Normalize, Pool, State

RANDOM = np.random.default_rng(3)
X = RANDOM.normal(size=(3, 4, 5)).astype(np.float32)
IDS = np.array([[2, 7, 9, 3], [2, 9, 3, 0], [2, 0, 0, 0]])
MASK = np.array([[1, 1, 1, 1], [1, 1, 1, 0], [0, 0, 0, 0]])
#: The places of the tokens but each text's first; the third text has none at all.
PLACES = [(0, 1), (0, 2), (0, 3), (1, 1), (1, 2)]


def layer(size: int) -> Dense:
    weight, bias = RANDOM.normal(size=(size, 5)), RANDOM.normal(size=size)
    return Dense(
        weight=weight.astype(np.float32),
        bias=bias.astype(np.float32),
        activation="relu" if size == 1 else "identity",
    )


HYBRID = Hybrid(
    dense=(Pool(mode="cls"), Normalize()),
    weight=layer(1),
    unweighted=(0, 2, 3),
    vector=(layer(2), Normalize()),
)


def test_the_formula() -> None:
    """Written out: the first token's vector, a weight of each id that may have one, a vector."""
    found = HYBRID.numpy(State(X, IDS, MASK))
    expected = X[:, 0] / np.linalg.norm(X[:, 0], axis=1, keepdims=True) * MASK[:, :1]
    assert found.x == pytest.approx(expected, abs=1e-6)
    weights, vectors = found.further["token_weights"], found.further["token_embeddings"]
    for row, (text, place) in enumerate(PLACES):
        token = X[text, place]
        weight = max(0.0, float(HYBRID.weight.weight[0] @ token + HYBRID.weight.bias[0]))
        weighs = IDS[text, place] not in (0, 2, 3)
        assert weights.x[row].tolist() == pytest.approx([weight if weighs else 0.0], abs=1e-6)
        vector = HYBRID.vector[0].weight @ token + HYBRID.vector[0].bias
        assert vectors.x[row] == pytest.approx(vector / np.linalg.norm(vector), abs=1e-6)
    assert len(weights.x) == len(vectors.x) == len(PLACES)
    assert weights.counts.tolist() == vectors.counts.tolist() == [3, 2, 0]
    assert weights.x.any()


def test_reads_as_in_the_manifest() -> None:
    """Each output has its steps."""
    assert str(HYBRID) == (
        "hybrid(dense: pool(mode=cls) -> normalize(); weight: dense(weight=1x5, bias=1, "
        "activation=relu), without 0+2+3; vector: dense(weight=2x5, bias=2, activation=identity) "
        "-> normalize())"
    )
