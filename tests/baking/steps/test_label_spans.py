"""Spans of words, scored for labels that stand before the words."""

from __future__ import annotations

import numpy as np
import pytest

from polybake.baking.steps import Dense, LabelSpans, Lstm, Pool, State
from polybake.errors import InputError

RANDOM = np.random.default_rng(3)
HIDDEN, LABEL = 4, 9
IDS = np.array([[2, 9, 7, 9, 8, 3, 5, 6, 7, 3], [2, 9, 7, 3, 5, 3, 0, 0, 0, 0], [2] + [0] * 9])
MASK = (IDS > 0).astype(np.int64)
#: Words of one, two and one token; one word; none, and no label.
FIRST = np.array([[0, 0, 0, 0, 0, 0, 1, 1, 0, 0], [0, 0, 0, 0, 1, 0, 0, 0, 0, 0], [0] * 10])
X = RANDOM.normal(size=(3, 10, HIDDEN)).astype(np.float32)


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
SPANS = LabelSpans(
    label=LABEL,
    width=3,
    context=None,
    start=layers(HIDDEN, 8, HIDDEN),
    end=layers(HIDDEN, 8, HIDDEN),
    span=layers(2 * HIDDEN, 8, HIDDEN),
    of_label=layers(HIDDEN, 8, HIDDEN),
)
GIVEN = State(X, IDS, MASK, sought=FIRST)


def _through(pair: tuple[Dense, Dense], x: np.ndarray) -> np.ndarray:
    first, second = pair
    return second.weight @ np.maximum(first.weight @ x + first.bias, 0) + second.bias


def test_the_formula() -> None:
    """Written out, a span and a label at a time."""
    found = SPANS.numpy(GIVEN)
    assert found.counts is not None
    assert found.counts.tolist() == [2 * 2, 1, 0]
    rows = iter(found.x)
    for text in (0, 1):
        places = np.flatnonzero(FIRST[text])
        for first in range(len(places)):
            for label in np.flatnonzero(IDS[text] == LABEL):
                row = next(rows)
                for more in range(SPANS.width):
                    if first + more >= len(places):
                        assert row[more] == 0
                        continue
                    ends = (X[text, places[first]], X[text, places[first + more]])
                    both = np.concatenate(
                        [_through(SPANS.start, ends[0]), _through(SPANS.end, ends[1])]
                    )
                    span = _through(SPANS.span, np.maximum(both, 0))
                    number = span @ _through(SPANS.of_label, X[text, label])
                    assert row[more] == pytest.approx(1 / (1 + np.exp(-number)), abs=1e-5)
    assert next(rows, None) is None


@pytest.mark.parametrize("context", [None, CONTEXT], ids=["bare", "lstm"])
def test_the_graph_computes_the_formula(run_steps, context: Lstm | None) -> None:
    """In batches with texts of fewer words, and of none."""
    step = SPANS.model_copy(update={"context": context})
    expected = step.numpy(GIVEN).x
    assert run_steps([step], GIVEN) == pytest.approx(expected, abs=1e-6)
    for text in range(3):
        alone = State(X[[text]], IDS[[text]], MASK[[text]], sought=FIRST[[text]])
        assert run_steps([step], alone) == pytest.approx(step.numpy(alone).x, abs=1e-6)


def test_it_needs_words(run_steps) -> None:
    """Tokens, and rows of labels and words."""
    with pytest.raises(InputError, match="label_spans takes token embeddings"):
        run_steps([Pool(mode="mean"), SPANS], GIVEN)
    with pytest.raises(InputError, match="rows are single texts; expected labels and words"):
        run_steps([SPANS], State(X, IDS, MASK))
