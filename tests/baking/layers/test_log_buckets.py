"""DeBERTa's buckets by hand."""

from __future__ import annotations

from polybake.baking.layers.log_buckets import log_buckets


def test_near_keys_have_their_own_row() -> None:
    """Of 4 rows a side, distances 1 and 2 have their own, and those up to 39 share the third."""
    found = log_buckets(7, buckets=4, furthest=40, span=4).tolist()
    assert found == [7, 7, 7, 7, 7, 6, 5, 4, 3, 2, 1, 1, 1, 1, 1]


def test_rows_widen_with_the_distance() -> None:
    """Of 8 rows a side, the last three end at distances of 8, 16 and 32: 4 doubled each time."""
    after = log_buckets(40, buckets=8, furthest=33, span=8)[40:]
    assert after[:5].tolist() == [8, 7, 6, 5, 4]
    assert [int((after == row).argmax()) for row in (3, 2, 1, 0)] == [5, 9, 17, 33]


def test_without_buckets_every_distance_has_its_row() -> None:
    """Up to the last one, which those beyond share."""
    found = log_buckets(4, buckets=-1, furthest=3, span=3)
    assert found.tolist() == [5, 5, 5, 4, 3, 2, 1, 0, 0]
