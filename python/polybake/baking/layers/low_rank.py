"""Weights to which an adapter adds a product of two narrow matrices (LoRA)."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polybake.baking.layers.stored_tensor import StoredTensor
from polybake.errors import InputError


def with_product(
    weight: StoredTensor, left: StoredTensor, right: StoredTensor, *, place: int, scale: float
) -> StoredTensor:
    """Return ``weight + scale * left[place] @ right[place]``, computed when it is read.

    Returns:
        float32 ``[rows, columns]``, of the weight's name.
    """
    if len(left.shape) != 3 or left.shape[0] <= place:
        raise _unfit(weight, left, right)
    adapters, _, rank = left.shape
    rows, *columns = weight.shape
    if (left.shape, right.shape) != ((adapters, rows, rank), (adapters, rank, *columns)):
        raise _unfit(weight, left, right)

    def read() -> NDArray[Any]:
        one, other = (part.array()[place].astype(np.float32) for part in (left, right))
        found = one @ other
        # In place, as a table of 250,000 tokens is a gigabyte.
        found *= np.float32(scale)
        found += weight.array().astype(np.float32, copy=False)
        return found

    return replace(weight, dtype="F32", array=read)


def _unfit(weight: StoredTensor, left: StoredTensor, right: StoredTensor) -> InputError:
    sizes = ", ".join(f"{one.name} {list(one.shape)}" for one in (weight, left, right))
    return InputError(
        f"{weight.file}: weights of adapters do not fit: {sizes}; use a configuration and weights "
        "that were saved together"
    )
