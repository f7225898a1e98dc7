"""What integers may differ by, element by element."""

from __future__ import annotations

import numpy as np
import pytest

from polybake.base.modelfile.fixture import decode_slack, decode_vectors, encode_vectors
from polybake.base.modelfile.slack import Slack, differences

GOLDEN = np.array([[-128, 5], [127, 0]], np.int8)


def test_steps_may_differ_by_their_slack() -> None:
    """An element may lie as many steps away as its slack says, to either side, and no further."""
    slack = Slack(np.array([[1, 0], [2, 0]], np.uint8), packed_bits=False)
    found = np.array([[-127, 5], [125, 0]], np.int8)
    assert not slack.exceeded(GOLDEN, found).any()
    found = np.array([[-126, 4], [124, 1]], np.int8)
    assert slack.exceeded(GOLDEN, found).all()
    assert slack.largest == 2


def test_a_difference_of_int8_does_not_wrap() -> None:
    """The two ends of int8 are 255 steps apart."""
    apart = differences(np.array([[-128]], np.int8), np.array([[127]], np.int8), packed_bits=False)
    assert apart.tolist() == [[255.0]]


@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
def test_bits_may_differ_where_they_are_open(dtype: type) -> None:
    """A bit may be turned where the slack has it set; every other one may not."""
    slack = Slack(np.array([[0b10000001]], np.uint8), packed_bits=True)
    golden = np.array([[0b01010101]], np.uint8)
    for turned, allowed in ((0b10000001, True), (0b10000000, True), (0b00000010, False)):
        found = golden ^ np.uint8(turned)
        exceeded = slack.exceeded(golden.view(dtype), found.view(dtype))
        assert exceeded.tolist() == [[not allowed]]
    assert slack.largest == 2


def test_bits_are_counted() -> None:
    """The difference of packed bits is how many of an element differ, whatever they count."""
    golden, found = np.array([[0, 255, 128]], np.uint8), np.array([[128, 0, 128]], np.uint8)
    assert differences(golden, found, packed_bits=True).tolist() == [[1, 8, 0]]


def test_floats_differ_by_their_distance() -> None:
    """The difference of float32 values is computed in float64."""
    golden, found = np.float32([[1.0]]), np.float32([[1.1]])
    expected = float(np.float64(found[0, 0]) - 1.0)
    assert differences(golden, found, packed_bits=False).tolist() == [[expected]]


@pytest.mark.parametrize("packed_bits", [False, True])
def test_survives_encoding(packed_bits: bool) -> None:
    """Integers and their slack come back equal."""
    slack = Slack(np.array([[1, 0], [255, 0]], np.uint8), packed_bits=packed_bits)
    encoded = encode_vectors(GOLDEN, slack)
    assert (encoded.dtype, encoded.shape) == ("int8", (2, 2))
    np.testing.assert_array_equal(decode_vectors(encoded), GOLDEN)
    assert decode_vectors(encoded).dtype == np.int8
    found = decode_slack(encoded)
    assert found is not None
    np.testing.assert_array_equal(found.values, slack.values)
    assert found.packed_bits == packed_bits
