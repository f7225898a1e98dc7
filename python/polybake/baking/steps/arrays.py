"""The arrays that steps hold, checked when a step is made and when it meets the embedding."""

from collections.abc import Sequence
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from onnxscript import ir
from pydantic import AfterValidator, ValidationInfo

from polybake.errors import InputError


def _is_row(array: NDArray[np.float32]) -> NDArray[np.float32]:
    if array.ndim != 1 or not array.size:
        raise ValueError(f"expected one row of finite numbers, found shape {list(array.shape)}")
    return _finite(array)


def _is_matrix(array: NDArray[np.float32]) -> NDArray[np.float32]:
    if array.ndim != 2 or not array.size:
        raise ValueError(f"expected rows of finite numbers, found shape {list(array.shape)}")
    return _finite(array)


def _finite(array: NDArray[np.float32]) -> NDArray[np.float32]:
    wrong = np.argwhere(~np.isfinite(array))
    if len(wrong):
        raise ValueError(
            f"expected finite numbers, found {array[tuple(wrong[0])]} at {wrong[0].tolist()} "
            f"({len(wrong)} of {array.size} are not finite); make the array again"
        )
    return array


#: float32 ``[size]``, finite.
Vector = Annotated[NDArray[np.float32], AfterValidator(_is_row)]

#: float32 ``[rows, columns]``, finite.
Matrix = Annotated[NDArray[np.float32], AfterValidator(_is_matrix)]


def check_mean(size: int, info: ValidationInfo) -> None:
    """Compare the input size of a matrix with the field ``mean`` before it."""
    mean = info.data.get("mean")
    if mean is not None and len(mean) != size:
        raise ValueError(
            f"takes {size} elements and the mean has {len(mean)}; give both of one fit"
        )


def check_embedding(x: ir.Value, size: int, what: str) -> None:
    """Compare the input size of a step with the embedding."""
    width = x.shape[-1] if x.shape is not None else None
    if width != size:
        raise InputError(
            f"{what} takes {size} elements and the embedding has {width}; "
            f"give one for {width}, made with the same encoder and the same steps before it"
        )


def embedding_size(values: Sequence[ir.Value]) -> int | None:
    """Return the dimension if ``values`` is one value, float32 ``[batch, dimension]``.

    Returns:
        None for any other values, or for a fixed batch size.
    """
    if len(values) != 1 or values[0].dtype != ir.DataType.FLOAT or values[0].shape is None:
        return None
    axes = tuple(values[0].shape)
    fits = len(axes) == 2 and not isinstance(axes[0], int)
    return axes[1] if fits and isinstance(axes[1], int) else None


def check_pooled(x: ir.Value, step: str) -> None:
    """Check that a step gets one float32 vector per text."""
    if embedding_size([x]) is None:
        raise InputError(
            f"{step} takes float32 [batch, dimension] and is given {x.dtype} {x.shape}; "
            "put it after a step that pools, and before one that quantizes"
        )


def check_tokens(x: ir.Value, step: str) -> int:
    """Check that a step gets float ``[batch, sequence, hidden]``, and return ``hidden``."""
    axes = tuple(x.shape or ())
    if len(axes) != 3 or not isinstance(axes[2], int):
        raise InputError(
            f"{step} takes token embeddings [batch, sequence, hidden] and is given {x.shape}; "
            "put it before the step that pools"
        )
    return axes[2]
