"""Positions of tokens, by hand."""

from __future__ import annotations

import numpy as np

from models.parts.tiny_encoders import run_graph
from polybake.baking.layers.positions import distances, positions, positions_after_padding

IDS = np.array([[7, 8, 1, 9], [7, 9, 1, 1], [1, 1, 7, 8]])


def test_positions_count_from_zero() -> None:
    """Every row has the same positions, padding or not."""
    assert run_graph(positions, ids=IDS).tolist() == [0, 1, 2, 3]


def test_padding_is_not_counted() -> None:
    """Counting begins after the padding id, and padding keeps that id, wherever it stands."""
    found = run_graph(lambda op, ids: positions_after_padding(op, ids, 1), ids=IDS)
    assert found.tolist() == [[2, 3, 1, 4], [2, 3, 1, 1], [1, 1, 2, 3]]


def test_distances_are_keys_less_queries() -> None:
    """A key after its query has a positive distance."""
    assert run_graph(distances, x=IDS[:, :3]).tolist() == [[0, 1, 2], [-1, 0, 1], [-2, -1, 0]]
