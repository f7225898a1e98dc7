"""Which prefix the rows of a batch begin with, and what is left of them."""

from __future__ import annotations

import numpy as np
import onnxruntime as ort
import pytest
from numpy.typing import NDArray
from onnxscript import GraphBuilder, ir

from polybake.baking.layers.network import new_model
from polybake.baking.layers.prefix_cache import PrefixCache

SHORT, LONG, OTHER = (5, 6), (5, 6, 7), (8, 9, 5, 6)
HEADS, SIZE = 2, 3


#: Token ids.
Row = tuple[int, ...]


def drawn(tokens: int, batch: int = 1) -> NDArray[np.float32]:
    random = np.random.default_rng(tokens)
    return random.normal(size=(batch, HEADS, tokens, SIZE)).astype(np.float32)


CACHE = PrefixCache((SHORT, LONG, OTHER), ((drawn(9), drawn(9) + 1),))


@pytest.fixture(scope="module")
def session() -> ort.InferenceSession:
    """Gives the rows behind their prefix, and its keys before those of the rest."""
    model = new_model()
    builder = GraphBuilder(model.graph)
    ids, mask = (
        builder.input(name, ir.DataType.INT64, ["batch", "sequence"]) for name in ("ids", "mask")
    )
    key = builder.input("key", ir.DataType.FLOAT, ["batch", HEADS, "rest", SIZE])
    past = CACHE.past(builder, ids, mask)
    keys, values = past.before(builder.op, 0, key, key)
    model.graph.outputs.extend([past.rest(builder.op, ids, 1), keys, values])
    return ort.InferenceSession(ir.to_proto(model).SerializeToString())


def run(session: ort.InferenceSession, *rows: Row, left: bool = False) -> Row:
    """Run rows, padded with an id that a prefix begins with; return what they begin with."""
    width = max(map(len, rows))
    ids, mask = np.full((len(rows), width), 5), np.zeros((len(rows), width), np.int64)
    for place, row in enumerate(rows):
        own = slice(width - len(row), width) if left else slice(len(row))
        ids[place, own], mask[place, own] = row, 1
    key = drawn(2, len(rows))
    rest, keys, values = session.run(None, {"ids": ids, "mask": mask, "key": key})
    length = width - rest.shape[1]
    assert np.array_equal(rest, ids[:, length:])
    begin = {0: 0, len(SHORT): 0, len(LONG): 2, len(OTHER): 5}[length]
    for found, cached in zip((keys, values), CACHE.layers[0], strict=True):
        known = np.repeat(cached[:, :, begin : begin + length], len(rows), axis=0)
        np.testing.assert_array_equal(found, np.concatenate([known, key], axis=2))
    return tuple(ids[0, :length].tolist())


@pytest.mark.parametrize("prefix", [SHORT, OTHER])
def test_rows_that_begin_alike(session: ort.InferenceSession, prefix: Row) -> None:
    """Alone and in a batch, whatever their lengths."""
    assert run(session, (*prefix, 1)) == prefix
    assert run(session, (*prefix, 1), (*prefix, 2, 2, 2), (*prefix, 7, 1)) == prefix


def test_the_longest_prefix_of_all_rows(session: ort.InferenceSession) -> None:
    """One prefix may begin like another."""
    assert run(session, (*LONG, 1), (*LONG, 2)) == LONG
    assert run(session, (*LONG, 1), (*SHORT, 2, 2)) == SHORT


@pytest.mark.parametrize(
    "rows",
    [
        [(1, 2, 3)],
        [(*SHORT, 1), (1, *SHORT)],
        [(*SHORT, 1), (*OTHER, 1)],
        [(5, 1, 6)],
        [SHORT],
        [SHORT, (*SHORT, 1)],
        [(5,), (*SHORT, 1)],
        [(), (*SHORT, 1)],
        [(5,)],
    ],
)
def test_rows_that_do_not(session: ort.InferenceSession, rows: list[Row]) -> None:
    """Others, several, or nothing behind it; padding is no token, whatever its id."""
    assert run(session, *rows) == ()


def test_rows_that_are_padded_on_the_left(session: ort.InferenceSession) -> None:
    """What all rows begin with stands side by side only without padding."""
    assert run(session, (*SHORT, 1), (*SHORT, 1, 1), left=True) == ()
    assert run(session, (*SHORT, 1), (*SHORT, 2), left=True) == SHORT


def test_its_size() -> None:
    """Two arrays of nine tokens."""
    assert CACHE.nbytes == 2 * 9 * HEADS * SIZE * 4
