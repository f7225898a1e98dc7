"""Weights to which an adapter adds a product of two narrow matrices (LoRA)."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polybake.baking.layers.stored_tensor import StoredTensor
from polybake.errors import InputError


def with_product(
    weight: StoredTensor, left: StoredTensor, right: StoredTensor, *, number: int, scale: float
) -> StoredTensor:
    """Return ``weight + scale * left[number] @ right[number]``, computed when it is read.

    ``weight`` is ``[rows, columns]``, ``left`` ``[adapters, rows, rank]``, and ``right``
    ``[adapters, rank, columns]``.
    """
    if len(left.shape) != 3 or left.shape[0] <= number:
        raise _unfit(weight, left, right)
    adapters, _, rank = left.shape
    rows, *columns = weight.shape
    if (left.shape, right.shape) != ((adapters, rows, rank), (adapters, rank, *columns)):
        raise _unfit(weight, left, right)

    def read() -> NDArray[Any]:
        outer, inner = (part.array()[number].astype(np.float32) for part in (left, right))
        product = outer @ inner
        # In place, as a table of 250,000 tokens is a gigabyte.
        product *= np.float32(scale)
        product += weight.array().astype(np.float32, copy=False)
        return product

    return replace(weight, dtype="F32", array=read)


def _unfit(weight: StoredTensor, left: StoredTensor, right: StoredTensor) -> InputError:
    sizes = ", ".join(f"{part.name} {list(part.shape)}" for part in (weight, left, right))
    return InputError(
        f"{weight.file}: weights of adapters do not fit: {sizes}; use a configuration and weights "
        "that were saved together"
    )
