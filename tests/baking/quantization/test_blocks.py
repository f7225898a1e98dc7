"""Weights as blocks of four bits."""

from fractions import Fraction

import numpy as np
import pytest
from ml_dtypes import bfloat16

from polybake.baking.quantization.blocks import BITS, SIZE, Blocks, round_blocks
from polybake.baking.quantization.rounding import error_factor

RANDOM = np.random.default_rng(0)


def factor(inputs: int) -> np.ndarray:
    """That of inputs that have nothing to do with each other."""
    return error_factor(np.eye(inputs))


def restored(blocks: Blocks) -> np.ndarray:
    """The weights that the packed bytes stand for, one after another as the format has them."""
    inputs, outputs = blocks.integers.shape
    packed, zeros = blocks.packed, blocks.packed_zeros
    found = np.empty((inputs, outputs), np.float32)
    for column in range(outputs):
        for row in range(inputs):
            block, place = row // 16, row % 16
            byte = int(packed[column, block, place // 2])
            integer = byte >> 4 if place % 2 else byte & 15
            shared = int(zeros[column, block // 2])
            zero = shared >> 4 if block % 2 else shared & 15
            found[row, column] = np.float32(integer - zero) * blocks.scales[block, column]
    return found


def test_each_integer_has_its_place() -> None:
    """The lower half of a byte comes first; an odd last block, and its zero, have 0 behind them."""
    integers = np.arange(35 * 2).reshape(35, 2).astype(np.uint8) % 16
    zeros = np.array([[1, 2], [3, 4], [5, 6]], np.uint8)
    blocks = Blocks(integers, zeros, np.ones((3, 2), np.float32))
    assert (blocks.packed.shape, blocks.packed.dtype) == ((2, 3, 8), np.uint8)
    assert blocks.packed[0, 0].tolist() == [0x20, 0x64, 0xA8, 0xEC] * 2
    assert blocks.packed[1, 0].tolist() == [0x31, 0x75, 0xB9, 0xFD] * 2
    assert blocks.packed[0, 2].tolist() == [0x20, 0x04, 0, 0, 0, 0, 0, 0]
    assert blocks.packed_zeros.tolist() == [[0x31, 0x05], [0x42, 0x06]]


@pytest.mark.parametrize(("inputs", "outputs"), [(300, 40), (33, 3), (16, 5), (7, 2), (1, 1)])
def test_the_bytes_stand_for_the_weights(inputs: int, outputs: int) -> None:
    """No weight is far off, also where the rows are no multiple of a block."""
    weights = RANDOM.normal(size=(inputs, outputs)).astype(np.float32)
    blocks = round_blocks(weights, factor(inputs))
    count = -(-inputs // SIZE)
    assert (blocks.integers.shape, blocks.integers.dtype) == (weights.shape, np.uint8)
    assert blocks.zeros.shape == blocks.scales.shape == (count, outputs)
    assert max(blocks.integers.max(), blocks.zeros.max()) <= 15
    scales = np.repeat(blocks.scales, SIZE, axis=0)[:inputs]
    assert (np.abs(restored(blocks) - weights) < 3 * scales).all()
    np.testing.assert_array_equal(blocks.scales.astype(bfloat16), blocks.scales)


def test_numbers_of_sixteen_steps_stay() -> None:
    """Weights that four bits hold are kept to the last bit."""
    zeros = RANDOM.integers(0, 16, (2, 9))
    scales = 2.0 ** RANDOM.integers(-9, 3, (2, 9))
    integers = RANDOM.permuted(np.tile(np.arange(16), (9, 2, 1)), axis=2)
    weights = (integers - zeros.T[..., np.newaxis]) * scales.T[..., np.newaxis]
    weights = weights.reshape(9, 32).T.astype(np.float32)
    np.testing.assert_array_equal(restored(round_blocks(weights, factor(32))), weights)


def test_what_the_products_give_changes_less_than_by_plain_rounding() -> None:
    """Inputs that go together make up for each other's errors, of texts that were not seen, too."""
    mixing = RANDOM.normal(size=(64, 64)) / 8
    inputs, held_out = (
        (RANDOM.normal(size=(2000, 64)) @ mixing).astype(np.float32) for _ in range(2)
    )
    weights = RANDOM.normal(size=(64, 32)).astype(np.float32)
    moments = np.asarray(inputs.T @ inputs, np.float64) / len(inputs)
    plain = restored(round_blocks(weights, factor(64)))
    rounded = restored(round_blocks(weights, error_factor(moments)))

    def error(found: np.ndarray) -> float:
        return float(np.square(held_out @ (found - weights)).mean())

    assert error(rounded) < 0.8 * error(plain)


def test_a_range_may_leave_out_what_costs_little() -> None:
    """A single large weight of an input that hardly comes does not make all steps coarse."""
    weights = RANDOM.normal(size=(16, 50)).astype(np.float32)
    weights[3] = 6
    often, seldom = np.eye(16, dtype=np.float32), np.eye(16, dtype=np.float32)
    seldom[3, 3] = 30
    one, other = (round_blocks(weights, found).scales.mean() for found in (often, seldom))
    assert other < 0.95 * one


@pytest.mark.parametrize("size", [0, 1e-44, 1e-38, 1e-20, 1e30, 1e37])
def test_weights_of_any_size(size: float) -> None:
    """Numbers that float32 hardly holds give no NaN; those below 1e-30 or so count as 0."""
    weights = (size * RANDOM.normal(size=(40, 3))).astype(np.float32)
    found = restored(round_blocks(weights, factor(40)))
    assert np.abs(found - weights).max() <= (0.5 if size > 1e-30 else 5) * np.float32(size)


@pytest.mark.parametrize("size", [1e-20, 1e15])
def test_inputs_of_any_size(size: float) -> None:
    """What counts is how the inputs lie to each other."""
    weights = RANDOM.normal(size=(40, 3)).astype(np.float32)
    spread = np.diag(RANDOM.uniform(1, 5, 40))
    expected = restored(round_blocks(weights, error_factor(spread)))
    found = restored(round_blocks(weights, error_factor(size**2 * spread)))
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_zeros_and_columns_of_one_sign() -> None:
    """Zero is always among the sixteen numbers, so that it stays zero."""
    weights = np.zeros((20, 3), np.float32)
    weights[:, 1], weights[::2, 2] = 5, -RANDOM.random(10)
    found = restored(round_blocks(weights, factor(20)))
    assert not found[:, 0].any()
    assert not found[1::2, 2].any()
    np.testing.assert_allclose(found[:, 1], 5, rtol=0.01)


def test_a_weight_takes_no_more_bits_than_are_said() -> None:
    blocks = round_blocks(np.ones((64, 8), np.float32), factor(64))
    size = blocks.packed.nbytes + blocks.packed_zeros.nbytes + blocks.scales.nbytes // 2
    assert Fraction(8 * size, 64 * 8) == Fraction(BITS)
