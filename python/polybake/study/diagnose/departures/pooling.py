"""Departures of pooling: other ways from token embeddings to a vector."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polybake.baking.pooling import POOLING_MODES
from polybake.study.diagnose.departures.batches import padded, widths
from polybake.study.diagnose.departures.departure import Departure
from polybake.study.diagnose.departures.stored import unit
from polybake.study.diagnose.dissection import Dissection, NamedArrays
from polybake.study.diagnose.way import ALL, Way


def departures(model: Dissection, prompt: str | None, count: int) -> Iterator[Departure]:
    """Yield the departures of pooling; none if the encoder pools."""
    if model.pooled_at is None:
        return
    own = model.manifest.steps[model.pooled_at]
    for mode in POOLING_MODES:
        if own != f"pool(mode={mode})":
            yield Departure(f"pools by {mode}", Way(pool=partial(_pooled, model, mode)))
    contract = model.manifest.contract
    for size, length, how in widths(contract, count):
        feed = partial(padded, prompt, contract.pad_side, length)
        way = Way(batch=size, feed=feed, pool=_over_padding)
        yield Departure(f"takes the mean over padding, too, {how}", way)
    for side, name, pool in (
        ("left", "the first place of a row", lambda x, _: x[:, 0]),
        ("right", "the last place of a row", lambda x, _: x[:, -1]),
        ("left", "the place that is the number of tokens", partial(_counted, model)),
    ):
        way = Way(batch=ALL, feed=partial(padded, prompt, side, 0), pool=pool)
        yield Departure(f"pads on the {side}, and takes {name}, padding or not", way)
    each = partial(_pooled, model, "mean", each=True)
    yield Departure("normalises each token before the mean", Way(pool=each))
    before, behind = model.tokenizer.special_tokens
    if before or behind:
        leaving = partial(_pooled, model, "mean", leave=(before, behind))
        yield Departure("leaves special tokens out of the pooling", Way(pool=leaving))


def _pooled(
    model: Dissection,
    mode: str,
    x: NDArray[Any],
    values: NamedArrays,
    leave: tuple[int, int] = (0, 0),
    *,
    each: bool = False,
) -> NDArray[Any]:
    mask = _mask(model, values)
    index = mask.cumsum(axis=1) * mask
    tokens = (index > leave[0]) & (index <= mask.sum(axis=1, keepdims=True) - leave[1])
    weights = tokens.astype(x.dtype)
    return POOLING_MODES[mode].formula(unit(x) if each else x, weights, weights)


def _over_padding(x: NDArray[Any], _: NamedArrays) -> NDArray[Any]:
    return np.asarray(x.mean(axis=1))


def _counted(model: Dissection, x: NDArray[Any], values: NamedArrays) -> NDArray[Any]:
    """Take the embedding at the number of tokens less 1; wrong for rows padded on the left."""
    last: NDArray[Any] = _mask(model, values).sum(axis=1) - 1
    return np.take_along_axis(x, last[:, None, None], axis=1)[:, 0]


def _mask(model: Dissection, values: NamedArrays) -> NDArray[Any]:
    (name,) = (one.name for one in model.manifest.contract.inputs if one.feed == "attention_mask")
    return values[name]
