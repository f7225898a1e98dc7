"""Files are written whole or not at all."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from polybake.base.files.atomic import creating, replacing, restoring
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


def test_a_folder_of_that_name_is_named(tmp_path: Path) -> None:
    """A folder is not replaced by a file, and nothing stays beside it."""
    path = tmp_path / "taken"
    path.mkdir()
    with (
        pytest.raises(InputError, match=r"taken: cannot be written \(Is a directory\); choose"),
        replacing(path),
    ):
        pass
    assert list(tmp_path.iterdir()) == [path]


def test_a_full_disk_is_named(tmp_path: Path) -> None:
    """An error while writing names the file, and the half-written file is removed."""
    with (
        pytest.raises(InputError, match=r"x: cannot be written \(No space left on device\); ch"),
        replacing(tmp_path / "x"),
    ):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert list(tmp_path.iterdir()) == []


def fail_in_folder(path: Path) -> None:
    with creating(path) as folder:
        (folder / "half").write_text("")
        raise RuntimeError


def test_a_failed_folder_leaves_nothing(tmp_path: Path) -> None:
    """An error inside the block removes all that was made."""
    with pytest.raises(RuntimeError):
        fail_in_folder(tmp_path / "new")
    assert list(tmp_path.iterdir()) == []


def test_a_made_folder_can_be_read_by_others(tmp_path: Path) -> None:
    """The mode is what the umask says, not that of a private temporary folder."""
    before = os.umask(0o022)
    try:
        with creating(tmp_path / "a" / "new") as folder:
            (folder / "file").write_text("whole")
    finally:
        os.umask(before)
    assert (tmp_path / "a" / "new" / "file").read_text() == "whole"
    assert (tmp_path / "a" / "new").stat().st_mode & 0o777 == 0o755


def test_a_folder_that_is_there_is_kept(tmp_path: Path) -> None:
    """An existing folder is refused, so that its files are not mixed with new ones."""
    with (
        pytest.raises(InputError, match="exists already; remove it, or choose another place"),
        creating(tmp_path),
    ):
        pytest.fail("the block must not run")


@pytest.mark.parametrize("before", [None, "old"])
def test_what_fails_later_puts_back_what_was_there(tmp_path: Path, before: str | None) -> None:
    path = tmp_path / "file"
    if before:
        path.write_text(before)

    def fail_after_replacing() -> None:
        with restoring(path):
            with replacing(path) as file:
                file.write(b"new")
            assert path.read_text() == "new"
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail_after_replacing()
    assert [(one.name, one.read_text()) for one in tmp_path.iterdir()] == (
        [("file", before)] if before else []
    )
    with pytest.raises(RuntimeError), restoring(path):
        raise RuntimeError
    assert path.exists() == bool(before)
    with restoring(path), replacing(path) as file:
        file.write(b"new")
    assert [(one.name, one.read_text()) for one in tmp_path.iterdir()] == [("file", "new")]
