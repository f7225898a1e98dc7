"""Weights as integers."""

import numpy as np
import pytest

from polybake.baking.quantization.rounding import error_factor, round_rows, round_weights, smoothing

RANDOM = np.random.default_rng(0)


def sample(rows: int, size: int) -> np.ndarray:
    """Inputs that go together, as those of a real layer do."""
    mixing = np.random.default_rng(size).normal(size=(size, size)) / np.sqrt(size)
    return (RANDOM.normal(size=(rows, size)) @ mixing).astype(np.float32)


def moments(inputs: np.ndarray) -> np.ndarray:
    return np.asarray(inputs.T @ inputs, np.float64) / len(inputs)


@pytest.mark.parametrize(("inputs", "outputs"), [(300, 40), (7, 3), (1, 1)])
def test_no_pair_of_neighbours_saturates(inputs: int, outputs: int) -> None:
    """255 times two neighbours fits into 16 bits, as processors without VNNI add them."""
    weights = RANDOM.standard_t(3, size=(inputs, outputs)).astype(np.float32)
    integers, scales = round_weights(weights, error_factor(moments(sample(500, inputs))))
    even, odd = np.abs(integers[0::2].astype(int)), np.abs(integers[1::2].astype(int))
    assert 255 * (even[: len(odd)] + odd).max(initial=0) < 2**15
    assert (integers.dtype, integers.shape, scales.shape) == (np.int8, weights.shape, (outputs,))
    assert np.abs(integers * scales - weights).max() < 40 * scales.max()


def test_what_the_products_give_changes_less_than_by_plain_rounding() -> None:
    inputs = sample(2000, 64)
    weights = RANDOM.normal(size=(64, 32)).astype(np.float32)
    integers, scales = round_weights(weights, error_factor(moments(inputs)))
    plain = np.rint(weights / scales) * scales
    held_out = sample(2000, 64)

    def error(rounded: np.ndarray, x: np.ndarray) -> float:
        return float(np.square(x @ rounded - x @ weights).mean())

    assert error(integers * scales, inputs) < 0.8 * error(plain, inputs)
    assert error(integers * scales, held_out) < 0.8 * error(plain, held_out)


def test_columns_and_inputs_of_zeros() -> None:
    """A column without weights, and an input that never comes, break nothing."""
    inputs, weights = sample(100, 6), RANDOM.normal(size=(6, 4)).astype(np.float32)
    inputs[:, 2] = 0
    weights[:, 1] = 0
    integers, scales = round_weights(weights, error_factor(moments(inputs)))
    assert not integers[:, 1].any()
    assert np.isfinite(scales).all()
    assert np.isfinite(error_factor(np.zeros((6, 6)))).all()


def test_each_row_of_a_table_has_its_scale() -> None:
    table = np.array([[1000, -500, 1], [0, 0, 0], [0.001, -0.002, 0]], np.float32)
    integers, scales = round_rows(table)
    assert integers.tolist() == [[127, -64, 0], [0, 0, 0], [64, -127, 0]]
    assert np.abs(integers * scales - table).max(axis=1) == pytest.approx([3.94, 0, 8e-6], rel=0.05)


def test_smoothing_moves_the_size_of_an_input_into_its_weights() -> None:
    largest = np.array([100, 2, 0], np.float32)
    weights = np.array([[1, -1], [1, 0], [1, 1]], np.float32)
    expected = np.array([100**0.75, 2**0.75, 1])
    expected = expected / np.exp(np.log(expected).mean())
    np.testing.assert_allclose(smoothing(largest, weights), expected, rtol=1e-6)
