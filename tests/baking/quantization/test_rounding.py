"""Weights and rows as integers, and what is known of the inputs that they multiply."""

from collections.abc import Callable
from fractions import Fraction
from math import erf
from pathlib import Path

import numpy as np
import onnxruntime as ort
import pytest
from ml_dtypes import bfloat16
from onnxscript import ir

from polybake.baking.quantization.blocks import BITS, SIZE, Blocks, round_blocks
from polybake.baking.quantization.calibration import Statistics
from polybake.baking.quantization.int8 import RoundedRows, round_gelu, round_symmetric
from polybake.baking.quantization.nodes import Nodes, in_file
from polybake.baking.quantization.rounding import error_factor, round_rows, round_weights, smoothing

RANDOM = np.random.default_rng(0)
Restored = Callable[[np.ndarray, np.ndarray], np.ndarray]


def sample(rows: int, size: int) -> np.ndarray:
    """Inputs that go together, as those of a real layer do."""
    mixing = np.random.default_rng(size).normal(size=(size, size)) / np.sqrt(size)
    return (RANDOM.normal(size=(rows, size)) @ mixing).astype(np.float32)


def moments(inputs: np.ndarray) -> np.ndarray:
    return np.asarray(inputs.T @ inputs, np.float64) / len(inputs)


def apart(inputs: int) -> np.ndarray:
    """The factor of inputs that have nothing to do with each other."""
    return error_factor(np.eye(inputs))


def of_eight_bits(weights: np.ndarray, factor: np.ndarray) -> np.ndarray:
    integers, scales = round_weights(weights, factor)
    return integers * scales


def of_four_bits(weights: np.ndarray, factor: np.ndarray) -> np.ndarray:
    return restored(round_blocks(weights, factor))


def restored(blocks: Blocks) -> np.ndarray:
    """The weights that the packed bytes stand for, one after another as the format has them."""
    found = np.empty(blocks.integers.shape, np.float32)
    for row, column in np.ndindex(found.shape):
        block, place = divmod(row, 16)
        integer = int(blocks.packed[column, block, place // 2]) >> 4 * (place % 2) & 15
        zero = int(blocks.packed_zeros[column, block // 2]) >> 4 * (block % 2) & 15
        found[row, column] = np.float32(integer - zero) * blocks.scales[block, column]
    return found


@pytest.mark.parametrize("of", [of_eight_bits, of_four_bits])
def test_what_the_products_give_changes_less_than_by_plain_rounding(of: Restored) -> None:
    """Inputs that go together make up for each other's errors, of texts that were not seen, too."""
    inputs, held_out = sample(2000, 64), sample(2000, 64)
    weights = RANDOM.normal(size=(64, 32)).astype(np.float32)
    plain, rounded = of(weights, apart(64)), of(weights, error_factor(moments(inputs)))
    for x in (inputs, held_out):
        errors = [float(np.square(x @ (one - weights)).mean()) for one in (plain, rounded)]
        assert errors[1] < 0.8 * errors[0]


@pytest.mark.parametrize(("inputs", "outputs"), [(300, 40), (7, 3), (1, 1)])
def test_no_pair_of_neighbours_saturates(inputs: int, outputs: int) -> None:
    """255 times two neighbours fits into 16 bits, as processors without VNNI add them."""
    weights = RANDOM.standard_t(3, size=(inputs, outputs)).astype(np.float32)
    integers, scales = round_weights(weights, error_factor(moments(sample(500, inputs))))
    even, odd = np.abs(integers[0::2].astype(int)), np.abs(integers[1::2].astype(int))
    assert 255 * (even[: len(odd)] + odd).max(initial=0) < 2**15
    assert (integers.dtype, integers.shape, scales.shape) == (np.int8, weights.shape, (outputs,))
    assert np.abs(integers * scales - weights).max() < 40 * scales.max()


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


def test_each_integer_of_four_bits_has_its_place() -> None:
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
    blocks = round_blocks(weights, apart(inputs))
    assert (blocks.integers.shape, blocks.integers.dtype) == (weights.shape, np.uint8)
    assert blocks.zeros.shape == blocks.scales.shape == (-(-inputs // SIZE), outputs)
    assert max(blocks.integers.max(), blocks.zeros.max()) <= 15
    scales = np.repeat(blocks.scales, SIZE, axis=0)[:inputs]
    assert (np.abs(restored(blocks) - weights) < 3 * scales).all()
    np.testing.assert_array_equal(blocks.scales.astype(bfloat16), blocks.scales)


def test_numbers_of_sixteen_steps_stay() -> None:
    """Weights that four bits hold are kept to the last bit, in as many bits as are said."""
    zeros = RANDOM.integers(0, 16, (2, 9))
    scales = 2.0 ** RANDOM.integers(-9, 3, (2, 9))
    integers = RANDOM.permuted(np.tile(np.arange(16), (9, 2, 1)), axis=2)
    weights = (integers - zeros.T[..., np.newaxis]) * scales.T[..., np.newaxis]
    weights = weights.reshape(9, 32).T.astype(np.float32)
    blocks = round_blocks(weights, apart(32))
    np.testing.assert_array_equal(restored(blocks), weights)
    size = blocks.packed.nbytes + blocks.packed_zeros.nbytes + blocks.scales.nbytes // 2
    assert Fraction(8 * size, weights.size) == Fraction(BITS)


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
    found = of_four_bits(weights, apart(40))
    assert np.abs(found - weights).max() <= (0.5 if size > 1e-30 else 5) * np.float32(size)


@pytest.mark.parametrize("size", [1e-20, 1e15])
def test_inputs_of_any_size(size: float) -> None:
    """What counts is how the inputs lie to each other."""
    weights = RANDOM.normal(size=(40, 3)).astype(np.float32)
    spread = np.diag(RANDOM.uniform(1, 5, 40))
    expected = of_four_bits(weights, error_factor(spread))
    found = of_four_bits(weights, error_factor(size**2 * spread))
    np.testing.assert_allclose(found, expected, atol=1e-6)


@pytest.mark.parametrize("of", [of_eight_bits, of_four_bits])
def test_zeros_and_columns_of_one_sign(of: Restored) -> None:
    """Zero is always among the numbers, so that it stays zero; an input may never come."""
    inputs, weights = sample(100, 20), np.zeros((20, 3), np.float32)
    inputs[:, 2] = 0
    weights[:, 1], weights[::2, 2] = 5, -RANDOM.random(10)
    found = of(weights, apart(20))
    assert not found[:, 0].any()
    assert not found[1::2, 2].any()
    np.testing.assert_allclose(found[:, 1], 5, rtol=0.02)
    for factor in (error_factor(moments(inputs)), error_factor(np.zeros((20, 20)))):
        assert np.isfinite(of(weights, factor)).all()
        assert not of(weights, factor)[:, 0].any()


def test_statistics_are_those_of_all_rows_together() -> None:
    """Sums alone give the moments of all rows about any centre."""
    x = RANDOM.normal(3, 2, (5, 7, 4)).astype(np.float32)
    statistics = Statistics(4)
    for part in x:
        statistics.add(part)
    rows = x.reshape(-1, 4).astype(np.float64)
    np.testing.assert_array_equal(statistics.least, rows.min(axis=0))
    np.testing.assert_array_equal(statistics.largest, rows.max(axis=0))
    middle = (rows.min(axis=0) + rows.max(axis=0)) / 2
    np.testing.assert_allclose(statistics.center, middle, rtol=1e-6)
    center = np.array([3, -1, 0, 50], np.float32)
    moved = rows - center
    found = statistics.moments(center)
    np.testing.assert_allclose(found, moved.T @ moved / len(rows), rtol=1e-5)


def test_moments_of_inputs_that_hardly_vary() -> None:
    """Small differences between inputs far from 0 are not lost among large squares."""
    x = (1000 + RANDOM.normal(0, 0.01, (40, 50, 16))).astype(np.float32)
    statistics = Statistics(16)
    for part in x:
        statistics.add(part)
    found = statistics.moments(statistics.center)
    moved = x.reshape(-1, 16).astype(np.float64) - statistics.center
    np.testing.assert_allclose(found, moved.T @ moved / len(moved), atol=1e-7)
    assert np.linalg.eigvalsh(found).min() > 5e-5


def test_an_expert_may_have_no_row() -> None:
    """Texts without a row change nothing, and without any row nothing is known."""
    x = np.array([[1, 2], [3, 5]], np.float32)
    statistics, nothing = Statistics(2), Statistics(2)
    for part in (x[:0], x, x[:0]):
        statistics.add(part)
    nothing.add(x[:0])
    np.testing.assert_array_equal(statistics.center, [2, 3.5])
    np.testing.assert_allclose(statistics.moments(np.zeros(2, np.float32)), x.T @ x / 2)
    np.testing.assert_array_equal(nothing.center, [0, 0])
    np.testing.assert_array_equal(nothing.moments(nothing.center), np.zeros((2, 2)))


def test_integers_are_those_that_were_given(tmp_path: Path) -> None:
    integers = RANDOM.integers(-128, 128, (300, 70)).astype(np.int8)
    kept = in_file(integers, tmp_path)
    other = in_file(np.asfortranarray(integers)[:, ::-1], tmp_path)
    np.testing.assert_array_equal(kept, integers)
    np.testing.assert_array_equal(other, integers[:, ::-1])
    assert sorted(one.stat().st_size for one in tmp_path.iterdir()) == [21_000, 21_000]


Round = Callable[[Nodes, ir.Value], RoundedRows]


def rounded(how: Round, x: np.ndarray) -> np.ndarray:
    """What the graph makes of ``x``, put together again in NumPy."""
    value = ir.val("x", ir.DataType.FLOAT, ["rows", x.shape[1]])
    graph = ir.Graph([value], [], nodes=[], opset_imports={"": 18}, name="rows")
    end = ir.node("Identity", [value])
    graph.append(end)
    found = how(Nodes(graph, end), value)
    parts = [found.integers, found.range]
    for number, part in enumerate(parts):
        part.name = f"part{number}"
        part.dtype = ir.DataType.FLOAT if number else ir.DataType.UINT8
    graph.outputs.extend(parts)
    model = ir.to_proto(ir.Model(graph, ir_version=8)).SerializeToString()
    integers, largest = ort.InferenceSession(model).run(None, {"x": x})
    assert found.zero.const_value is not None
    zero = int(found.zero.const_value.numpy())
    return np.asarray((integers.astype(float) - zero) * largest / found.steps)


def gelu(x: np.ndarray) -> np.ndarray:
    return np.vectorize(lambda one: one * (1 + erf(one / np.sqrt(2))) / 2)(x).astype(np.float32)


@pytest.mark.parametrize("how", [round_symmetric, round_gelu])
def test_each_row_is_rounded_by_its_own_range(how: Round) -> None:
    """A row is off by half a step of its own range at most, whatever the other rows hold."""
    x = RANDOM.normal(size=(6, 50)).astype(np.float32)
    x *= np.array([[0.001], [1], [30], [1000], [1], [5]], np.float32)
    if how is round_gelu:
        x = gelu(x)
    largest = np.abs(x).max(axis=1) if how is round_symmetric else np.maximum(x.max(axis=1), 0.92)
    steps = 127 if how is round_symmetric else 215
    assert (np.abs(rounded(how, x) - x).max(axis=1) <= 0.502 * largest / steps).all()
    np.testing.assert_array_equal(rounded(how, 0 * x[:1]), 0 * x[:1])
    assert rounded(how, x)[2] == pytest.approx(rounded(how, x[2:3])[0], abs=0)
