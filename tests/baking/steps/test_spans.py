"""The probabilities of answers, and three outputs of one pass."""

from __future__ import annotations

import numpy as np
import pytest

from polybake.steps import Dense, Hybrid, Normalize, Pool, Spans, State, Unpad

X = np.random.default_rng(3).normal(size=(3, 6, 2)).astype(np.float32)
IDS = np.arange(18).reshape(3, 6)
MASK = np.array([[1, 1, 1, 1, 1, 1], [1, 1, 1, 1, 0, 0], [0, 0, 1, 1, 1, 1]])
SOUGHT = np.array([[0, 0, 1, 1, 1, 0], [0, 0, 1, 0, 0, 0], [0, 0, 0, 0, 0, 0]])
GIVEN = State(X, IDS, MASK, sought=SOUGHT)


def by_hand(row: int, most: int) -> np.ndarray:
    """The probabilities of a row's spans, by begin and length; the first token is no answer."""
    (first,) = np.flatnonzero(MASK[row])[:1]
    (places,) = np.nonzero(SOUGHT[row])
    legal = [int(first), *map(int, places)]
    powers = np.exp(X[row, legal].astype(np.float64))
    begins, ends = (powers / powers.sum(axis=0)).T
    spans = np.zeros((len(legal), most))
    for begin in range(1, len(legal)):
        for end in range(begin, min(begin + most, len(legal))):
            spans[begin, end - begin] = begins[begin] * ends[end]
    spans[0, 0] = begins[0] * ends[0]
    return spans


@pytest.mark.parametrize("most", [1, 2, 9])
def test_multiplies_beginnings_and_ends(run_steps, opset: int, most: int) -> None:
    """A span lies in the sought text and has at most ``most`` tokens, or is the first token."""
    steps = [Spans(most=most), Unpad()]
    expected = np.concatenate([by_hand(row, most) for row in range(3)])
    assert run_steps(steps, GIVEN, opset) == pytest.approx(expected, abs=1e-6)
    state = GIVEN.becomes(X.astype(np.float64))
    for step in steps:
        state = step.numpy(state)
    assert state.x == pytest.approx(expected, abs=1e-9)
    assert state.counts is not None
    assert state.counts.tolist() == [4, 2, 1]


DRAWN = np.random.default_rng(3)
EMBEDDINGS = DRAWN.normal(size=(3, 4, 5)).astype(np.float32)
OF_TEXTS = np.array([[2, 7, 9, 3], [2, 9, 3, 0], [2, 0, 0, 0]])
PRESENT = np.array([[1, 1, 1, 1], [1, 1, 1, 0], [0, 0, 0, 0]])
#: The places of the tokens but each text's first; the third text has none at all.
PLACES = [(0, 1), (0, 2), (0, 3), (1, 1), (1, 2)]


def layer(size: int) -> Dense:
    weight, bias = DRAWN.normal(size=(size, 5)), DRAWN.normal(size=size)
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


def test_three_outputs() -> None:
    """Written out: the first token's vector, a weight of each id that may have one, a vector."""
    found = HYBRID.numpy(State(EMBEDDINGS, OF_TEXTS, PRESENT))
    expected = (
        EMBEDDINGS[:, 0] / np.linalg.norm(EMBEDDINGS[:, 0], axis=1, keepdims=True) * PRESENT[:, :1]
    )
    assert found.x == pytest.approx(expected, abs=1e-6)
    weights, vectors = found.further["token_weights"], found.further["token_embeddings"]
    for row, (text, place) in enumerate(PLACES):
        token = EMBEDDINGS[text, place]
        weight = max(0.0, float(HYBRID.weight.weight[0] @ token + HYBRID.weight.bias[0]))
        weighs = OF_TEXTS[text, place] not in (0, 2, 3)
        assert weights.x[row].tolist() == pytest.approx([weight if weighs else 0.0], abs=1e-6)
        vector = HYBRID.vector[0].weight @ token + HYBRID.vector[0].bias
        assert vectors.x[row] == pytest.approx(vector / np.linalg.norm(vector), abs=1e-6)
    assert len(weights.x) == len(vectors.x) == len(PLACES)
    assert weights.counts.tolist() == vectors.counts.tolist() == [3, 2, 0]
    assert weights.x.any()


def test_each_output_has_its_steps_in_the_manifest() -> None:
    """Each output has its steps."""
    assert str(HYBRID) == (
        "hybrid(dense: pool(mode=cls) -> normalize(); weight: dense(weight=1x5, bias=1, "
        "activation=relu), without 0+2+3; vector: dense(weight=2x5, bias=2, activation=identity) "
        "-> normalize())"
    )
