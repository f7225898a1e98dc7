"""Departures of batches: padded differently, or with padding that was attended to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from polybake.base.modelfile.manifest import Contract
from polybake.base.modelfile.rows import Rows
from polybake.runtime.feeds import feeds
from polybake.study.diagnose.departures.departure import Departure
from polybake.study.diagnose.dissection import NamedArrays
from polybake.study.diagnose.way import ALL, Way

#: The most tokens that libraries pad to by default, and their numbers of texts per batch.
_LONGEST = 512
_SIZES = (8, 16, 32, 64, 128, 256)


def departures(contract: Contract, prompt: str | None, count: int) -> Iterator[Departure]:
    """Yield the departures of padding."""
    side = "left" if contract.pad_side == "right" else "right"
    yield Departure(f"pads on the {side}", Way(batch=ALL, feed=partial(padded, prompt, side, 0)))
    for size, length, how in widths(contract, count):
        way = Way(batch=size, feed=partial(_attending, prompt, length))
        yield Departure(f"attends to padding and pools it, {how}", way)
        yield Departure(f"attends to padding, {how}", replace(way, masked=True))


def widths(contract: Contract, count: int) -> tuple[tuple[int, int, str], ...]:
    """Return batch sizes, each with the least number of tokens per row, and a name for both."""
    longest = min(contract.max_length, _LONGEST)
    return (
        (ALL, 0, "in batches of several texts"),
        *((size, 0, f"in batches of {size} texts") for size in _SIZES if size < count),
        (ALL, longest, f"up to {longest} tokens"),
    )


def _attending(
    prompt: str | None, length: int, contract: Contract, rows: Rows, width: int
) -> NamedArrays:
    arrays = feeds(contract, rows, prompt, max(length, width))
    masks = {item.name for item in contract.inputs if item.feed == "attention_mask"}
    return {name: np.ones_like(array) if name in masks else array for name, array in arrays.items()}


def padded(
    prompt: str | None, side: str, length: int, contract: Contract, rows: Rows, width: int
) -> NamedArrays:
    """Return a batch's arrays, with rows padded on ``side`` to at least ``length`` tokens."""
    other = contract.model_copy(update={"pad_side": side})
    return feeds(other, rows, prompt, max(length, width))
