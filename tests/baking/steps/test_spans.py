"""The probabilities of answers, of spans of words for labels, and three outputs of one pass."""

from __future__ import annotations

import numpy as np
import pytest

from polybake.steps import Dense, Hybrid, LabelSpans, Lstm, Normalize, Pool, Spans, State, Unpad

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


RANDOM = np.random.default_rng(3)
HIDDEN, LABEL = 4, 9
TOKENS = np.array([[2, 9, 7, 9, 8, 3, 5, 6, 7, 3], [2, 9, 7, 3, 5, 3, 0, 0, 0, 0], [2] + [0] * 9])
KEPT = (TOKENS > 0).astype(np.int64)
#: Words of one, two and one token; one word; none, and no label.
WORDS = np.array([[0, 0, 0, 0, 0, 0, 1, 1, 0, 0], [0, 0, 0, 0, 1, 0, 0, 0, 0, 0], [0] * 10])
STATES = RANDOM.normal(size=(3, 10, HIDDEN)).astype(np.float32)


def layers(*sizes: int) -> tuple[Dense, Dense]:
    """Two layers, the first of them with a ReLU."""
    first, second = (
        Dense(
            weight=RANDOM.normal(size=(out, into)).astype(np.float32),
            bias=RANDOM.normal(size=out).astype(np.float32),
            activation=activation,
        )
        for into, out, activation in zip(sizes, sizes[1:], ("relu", "identity"), strict=False)
    )
    return first, second


def weights() -> dict[str, np.ndarray]:
    shapes = {"weight_ih": (8, HIDDEN), "weight_hh": (8, 2), "bias_ih": (8,), "bias_hh": (8,)}
    return {
        f"{name}_l0{way}": RANDOM.normal(size=shape).astype(np.float32)
        for name, shape in shapes.items()
        for way in ("", "_reverse")
    }


CONTEXT = Lstm(hidden=2, layers=1, bidirectional=True, weights=weights())
LABELLED = LabelSpans(
    label=LABEL,
    width=3,
    context=None,
    start=layers(HIDDEN, 8, HIDDEN),
    end=layers(HIDDEN, 8, HIDDEN),
    span=layers(2 * HIDDEN, 8, HIDDEN),
    of_label=layers(HIDDEN, 8, HIDDEN),
)
OF_LABELS = State(STATES, TOKENS, KEPT, sought=WORDS)


def _through(pair: tuple[Dense, Dense], x: np.ndarray) -> np.ndarray:
    first, second = pair
    return second.weight @ np.maximum(first.weight @ x + first.bias, 0) + second.bias


def test_scores_are_those_of_each_span_and_label() -> None:
    """Written out, a span and a label at a time."""
    found = LABELLED.numpy(OF_LABELS)
    assert found.counts is not None
    assert found.counts.tolist() == [2 * 2, 1, 0]
    rows = iter(found.x)
    for text in (0, 1):
        places = np.flatnonzero(WORDS[text])
        for first in range(len(places)):
            for label in np.flatnonzero(TOKENS[text] == LABEL):
                row = next(rows)
                for more in range(LABELLED.width):
                    if first + more >= len(places):
                        assert row[more] == 0
                        continue
                    ends = (STATES[text, places[first]], STATES[text, places[first + more]])
                    both = np.concatenate(
                        [_through(LABELLED.start, ends[0]), _through(LABELLED.end, ends[1])]
                    )
                    span = _through(LABELLED.span, np.maximum(both, 0))
                    number = span @ _through(LABELLED.of_label, STATES[text, label])
                    assert row[more] == pytest.approx(1 / (1 + np.exp(-number)), abs=1e-5)
    assert next(rows, None) is None


@pytest.mark.parametrize("context", [None, CONTEXT], ids=["bare", "lstm"])
def test_scores_of_labels_in_a_graph(run_steps, context: Lstm | None) -> None:
    """In batches with texts of fewer words, and of none."""
    step = LABELLED.model_copy(update={"context": context})
    expected = step.numpy(OF_LABELS).x
    assert run_steps([step], OF_LABELS) == pytest.approx(expected, abs=1e-6)
    for text in range(3):
        alone = State(STATES[[text]], TOKENS[[text]], KEPT[[text]], sought=WORDS[[text]])
        assert run_steps([step], alone) == pytest.approx(step.numpy(alone).x, abs=1e-6)


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
