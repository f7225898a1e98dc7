"""Vectors that were made of the tokens' embeddings otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polybake.diagnosis.departures.batches import padded, widths
from polybake.diagnosis.departures.departure import Departure
from polybake.diagnosis.departures.rounding import unit
from polybake.diagnosis.dissected import Arrays, Dissected
from polybake.diagnosis.way import ALL, Way
from polybake.steps import Pool
from polybake.steps.pooling_modes import POOLING_MODES
from polybake.steps.state import State


def departures(model: Dissected, prompt: str | None) -> Iterator[Departure]:
    """Those of pooling; none where the encoder pools.

    Args:
        model: The file.
        prompt: The name of the prompt that its own vectors have.
    """
    if model.pooled_at is None:
        return
    own = model.manifest.steps[model.pooled_at]
    for mode in POOLING_MODES:
        if own != f"pool(mode={mode})":
            yield Departure(f"pools by {mode}", Way(pool=partial(_pooled, model, mode)))
    contract = model.manifest.contract
    for length, how in widths(contract):
        feed = partial(padded, prompt, contract.pad_side, width=length) if length else None
        way = Way(batch=ALL, feed=feed, pool=lambda x, _: x.mean(axis=1))
        yield Departure(f"takes the mean over padding, too, {how}", way)
    for side, name, place in (
        ("left", "the first place of a row", lambda x, _: x[:, 0]),
        ("right", "the last place of a row", lambda x, _: x[:, -1]),
        ("left", "the place that is the number of tokens", partial(_counted, model)),
    ):
        way = Way(batch=ALL, feed=partial(padded, prompt, side), pool=place)
        yield Departure(f"pads on the {side}, and takes {name}, padding or not", way)
    each = partial(_pooled, model, "mean", each=True)
    yield Departure("normalises each token before the mean", Way(pool=each))
    before, behind = model.tokenizer.special_tokens
    if before or behind:
        leaving = partial(_pooled, model, "mean", leave=(before, behind))
        yield Departure("leaves special tokens out of the pooling", Way(pool=leaving))


def _pooled(
    model: Dissected,
    mode: str,
    x: NDArray[Any],
    values: Arrays,
    leave: tuple[int, int] = (0, 0),
    *,
    each: bool = False,
) -> NDArray[Any]:
    mask = _mask(model, values)
    place = mask.cumsum(axis=1) * mask
    kept = (place > leave[0]) & (place <= mask.sum(axis=1, keepdims=True) - leave[1])
    tokens = unit(x) if each else x
    state = State(x=tokens, input_ids=mask, attention_mask=kept.astype(np.int64))
    return Pool(mode=mode).numpy(state).x


def _counted(model: Dissected, x: NDArray[Any], values: Arrays) -> NDArray[Any]:
    """Right where rows are padded on the right alone."""
    last: NDArray[Any] = _mask(model, values).sum(axis=1) - 1
    return np.take_along_axis(x, last[:, None, None], axis=1)[:, 0]


def _mask(model: Dissected, values: Arrays) -> NDArray[Any]:
    (name,) = (one.name for one in model.manifest.contract.inputs if one.feed == "attention_mask")
    return values[name]
