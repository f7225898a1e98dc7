"""Files are written whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from polybake.atomic import replacing
from polybake.errors import InputError


def fail_half_way(path: Path) -> None:
    with replacing(path) as file:
        file.write(b"half")
        raise RuntimeError


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    """An error inside the block keeps what was there and removes the temporary file."""
    path = tmp_path / "file"
    path.write_text("old")
    with pytest.raises(RuntimeError):
        fail_half_way(path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_written_file_can_be_read_by_others(tmp_path: Path) -> None:
    """The mode is what the umask says, not that of a private temporary file."""
    path = tmp_path / "new" / "file"
    before = os.umask(0o022)
    try:
        with replacing(path) as file:
            file.write(b"whole")
    finally:
        os.umask(before)
    assert path.read_bytes() == b"whole"
    assert path.stat().st_mode & 0o777 == 0o644


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    """A file where a folder should be is an InputError with the remedy."""
    (tmp_path / "taken").write_text("")
    with (
        pytest.raises(InputError, match=r"x: cannot be written \(.+\); choose another place"),
        replacing(tmp_path / "taken" / "x"),
    ):
        pass
