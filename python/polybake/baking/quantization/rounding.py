"""Round a weight to integers so that its matmuls change little.

Source: GPTQ (Frantar et al. 2023). Rows are rounded one after another. The following rows
compensate for a row's error, as far as their inputs correlate with its inputs.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

#: How much of an input's size its weights take over: the best of six on MiniLM.
_SMOOTHING = 0.75

Floats = NDArray[np.float32]

_LARGEST = 127

#: Processors without VNNI add the products of two neighbours in 16 bits: 255 times the sum of two
#: weights has to stay below 2**15.
_LARGEST_PAIR = 128

#: This part of the mean square of the inputs is added to each, so that nearly constant inputs do
#: not decide.
_DAMPING = 0.3

#: The rows whose errors are passed to later rows in one matmul: a multiple of every block's.
_BLOCK = 128

#: The rows of a table that are rounded at a time.
_ROWS = 1 << 12


def error_factor(moments: NDArray[np.float64]) -> Floats:
    """Return how the weights of later inputs compensate for an error of an input's weights.

    Returns:
        The upper Cholesky factor of the inverse, ``[in, in]``.
    """
    damped = moments.copy()
    damped[np.diag_indices_from(damped)] += _DAMPING * (moments.trace() / len(moments) or 1.0)
    factor: Floats = np.linalg.cholesky(np.linalg.inv(damped)).T.astype(np.float32)
    return factor


def round_weights(weights: Floats, factor: Floats) -> tuple[NDArray[np.int8], Floats]:
    """Round ``[in, out]``, with a scale for each column.

    Returns:
        Integers ``[in, out]``, of which no two neighbours of a column, from an even row on, exceed
        128 together, and scales ``[out]``: ``integers * scales`` is close to ``weights``.
    """
    scales = _scales(weights)
    integers = np.zeros_like(weights)

    def rounded(row: int, rest: Floats) -> Floats:
        largest = _LARGEST if row % 2 == 0 else _LARGEST_PAIR - np.abs(integers[row - 1])
        largest = np.minimum(largest, _LARGEST)
        integers[row] = np.clip(np.rint(rest[row] / scales), -largest, largest)
        result: Floats = integers[row] * scales
        return result

    round_in_turn(weights, factor, rounded)
    return integers.astype(np.int8), scales


def round_in_turn(
    weights: Floats, factor: Floats, rounded: Callable[[int, Floats], Floats]
) -> None:
    """Round rows one after another; the following rows compensate for each row's error."""
    rest = weights.copy()
    for begin in range(0, len(weights), _BLOCK):
        end = min(begin + _BLOCK, len(weights))
        errors = np.zeros_like(weights[begin:end])
        for row in range(begin, end):
            error = (rest[row] - rounded(row, rest)) / factor[row, row]
            rest[row + 1 : end] -= np.outer(factor[row, row + 1 : end], error)
            errors[row - begin] = error
        rest[end:] -= factor[begin:end, end:].T @ errors


def round_rows(table: Floats) -> tuple[NDArray[np.int8], Floats]:
    """Round each row of a table, ``[rows, size]``, with a scale of its own, ``[rows, 1]``."""
    integers: NDArray[np.int8] = np.empty(table.shape, np.int8)
    scales: Floats = np.empty((len(table), 1), table.dtype)
    for begin in range(0, len(table), _ROWS):
        rows = slice(begin, begin + _ROWS)
        scale = np.abs(table[rows]).max(axis=1, keepdims=True) / _LARGEST
        scale[scale == 0] = 1
        integers[rows], scales[rows] = np.rint(table[rows] / scale), scale
    return integers, scales


def _scales(weights: Floats) -> Floats:
    """The smallest for which no element and no pair is cut off, ``[out]``."""
    sizes = np.abs(weights)
    even, odd = sizes[0::2], sizes[1::2]
    pairs = even[: len(odd)] + odd
    largest = np.maximum(sizes.max(axis=0) / _LARGEST, pairs.max(axis=0, initial=0) / _LARGEST_PAIR)
    scales: Floats = np.where(largest > 0, largest, 1).astype(np.float32)
    return scales


def smoothing(largest: Floats, weights: Floats) -> Floats:
    """Return the factor that divides each input and multiplies its row of weights, ``[in]``.

    Inputs that are large in every text would make the steps of all other inputs coarse.
    Source: SmoothQuant (Xiao et al. 2023).
    """
    weight = np.abs(weights).max(axis=1)
    mask = (largest > 0) & (weight > 0)
    scale = np.ones_like(largest)
    scale[mask] = largest[mask] ** _SMOOTHING / weight[mask] ** (1 - _SMOOTHING)
    smooth: Floats = (scale / np.exp(np.log(scale).mean())).astype(np.float32)
    return smooth
