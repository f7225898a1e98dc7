"""Batches that were padded otherwise, or whose padding was seen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from polybake.diagnosis.departures.departure import Departure
from polybake.diagnosis.dissected import Arrays
from polybake.diagnosis.way import ALL, Way
from polybake.modelfile.manifest import Contract
from polybake.modelfile.rows import Rows
from polybake.runtime.feeds import feeds

#: Tokens to which libraries pad by themselves, at most.
_LONGEST = 512


def departures(contract: Contract, prompt: str | None) -> Iterator[Departure]:
    """Those of padding.

    Args:
        contract: The model's.
        prompt: The name of the prompt that its own vectors have.
    """
    side = "left" if contract.pad_side == "right" else "right"
    yield Departure(f"pads on the {side}", Way(batch=ALL, feed=partial(padded, prompt, side)))
    for length, how in widths(contract):
        way = Way(batch=ALL, feed=partial(_attending, prompt, length))
        yield Departure(f"attends to padding and pools it, {how}", way)
        yield Departure(f"attends to padding, {how}", replace(way, masked=True))


def widths(contract: Contract) -> tuple[tuple[int, str], ...]:
    """To how many tokens the rows of a batch are padded, and its name; 0 is the longest row's."""
    longest = min(contract.max_length, _LONGEST)
    return (0, "in batches of several texts"), (longest, f"up to {longest} tokens")


def _attending(prompt: str | None, length: int, contract: Contract, rows: Rows) -> Arrays:
    given = feeds(contract, rows, prompt, length)
    masks = {one.name for one in contract.inputs if one.feed == "attention_mask"}
    return {name: np.ones_like(one) if name in masks else one for name, one in given.items()}


def padded(prompt: str | None, side: str, contract: Contract, rows: Rows, width: int = 0) -> Arrays:
    """The arrays of a batch whose shorter rows are padded on this side, to so many tokens."""
    return feeds(contract.model_copy(update={"pad_side": side}), rows, prompt, width)
