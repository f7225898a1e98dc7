"""The record that a fit writes of its arrays."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from polybake.base.files.fit_record import RECORD, arrays_of, steps_before

WRITTEN = {"arrays": {"mean.npy": [3]}, "model": {"steps": ["pool(mode=mean)"]}}


def test_an_array_knows_the_steps_before_it(tmp_path: Path) -> None:
    """Only arrays that the record names have known steps before them."""
    (tmp_path / RECORD).write_text(json.dumps(WRITTEN))
    assert arrays_of(tmp_path) == {"mean.npy"}
    assert steps_before(tmp_path / "mean.npy") == ("pool(mode=mean)",)
    assert steps_before(tmp_path / "other.npy") is None


@pytest.mark.parametrize("content", [None, "{", "[]", '"a"', '{"arrays": 3}', "{}"])
def test_without_a_record_nothing_is_known(content: str | None, tmp_path: Path) -> None:
    """Arrays without a record may come from anywhere."""
    if content is not None:
        (tmp_path / RECORD).write_text(content)
    assert arrays_of(tmp_path) == set()
    assert steps_before(tmp_path / "mean.npy") is None
    (tmp_path / RECORD).write_text('{"arrays": ["mean.npy"]}')
    assert steps_before(tmp_path / "mean.npy") is None
