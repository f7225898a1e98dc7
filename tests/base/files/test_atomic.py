"""Files are written whole or not at all, by one process at a time, and scratch ones are removed."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from polybake.base.files.atomic import creating, replacing
from polybake.base.files.exclusive import exclusive
from polybake.base.files.scratch import Scratch
from polybake.errors import InputError


def fail_half_way(path: Path) -> None:
    with replacing(path) as file:
        file.write(b"half")
        raise RuntimeError


def fail_in_folder(path: Path) -> None:
    with creating(path) as folder:
        (folder / "half").write_text("")
        raise RuntimeError


def test_a_failed_write_leaves_what_was_there(tmp_path: Path) -> None:
    """An error inside the block removes all that was made, and keeps the old file."""
    path = tmp_path / "file"
    path.write_text("old")
    with pytest.raises(RuntimeError):
        fail_half_way(path)
    with pytest.raises(RuntimeError):
        fail_in_folder(tmp_path / "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_what_is_written_can_be_read_by_others(tmp_path: Path) -> None:
    """The mode is what the umask says, not that of a private temporary file or folder."""
    path = tmp_path / "new" / "file"
    before = os.umask(0o022)
    try:
        with replacing(path) as file:
            file.write(b"whole")
        with creating(tmp_path / "a" / "new") as folder:
            (folder / "file").write_text("whole")
    finally:
        os.umask(before)
    assert path.read_bytes() == b"whole"
    assert path.stat().st_mode & 0o777 == 0o644
    assert (tmp_path / "a" / "new" / "file").read_text() == "whole"
    assert (tmp_path / "a" / "new").stat().st_mode & 0o777 == 0o755


@pytest.mark.parametrize(
    ("open_it", "named"),
    [
        (lambda folder: replacing(folder / "file" / "x"), "x: cannot be written"),
        (lambda folder: replacing(folder / "inner"), r"inner: cannot be written \(Is a directory"),
        (lambda folder: creating(folder), "exists already; remove it"),
        (lambda folder: exclusive(folder / "file"), r"file: cannot be made \(File exists"),
    ],
)
def test_what_is_in_the_way_is_named(
    open_it: Callable[[Path], AbstractContextManager[Any]], named: str, tmp_path: Path
) -> None:
    """A file where a folder should be, and the other way round; nothing stays beside it."""
    (tmp_path / "file").touch()
    (tmp_path / "inner").mkdir()
    with pytest.raises(InputError, match=rf"{named}.*choose another"), open_it(tmp_path):
        pass
    assert {one.name for one in tmp_path.iterdir()} == {"file", "inner"}


def test_a_full_disk_is_named(tmp_path: Path) -> None:
    """An error while writing names the file, and the half-written file is removed."""
    with (
        pytest.raises(InputError, match=r"x: cannot be written \(No space left on device\)"),
        replacing(tmp_path / "x"),
    ):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert list(tmp_path.iterdir()) == []


def test_a_second_process_is_refused(tmp_path: Path) -> None:
    """The folder is free again once the first process ends, also by an error."""
    folder = tmp_path / "new" / "folder"
    with (
        exclusive(folder),
        pytest.raises(InputError, match="folder: another process works in it; wait for its"),
        exclusive(folder),
    ):
        pass
    with pytest.raises(ZeroDivisionError), exclusive(folder):
        raise ZeroDivisionError
    with exclusive(folder):
        pass


CUT_SHORT = """
import shutil
from polybake.base.files.scratch import Scratch

def cut_short(*_, **__):
    shutil.rmtree = real
    raise SystemExit(129)

with Scratch() as name:
    print(name)
    open(name + "/weights", "w").close()
    real, shutil.rmtree = shutil.rmtree, cut_short
    Scratch._rmtree = cut_short
"""


def test_a_scratch_folder_is_gone_after_its_block(tmp_path: Path) -> None:
    """A signal that interrupts the removal leaves nothing behind, either."""
    with Scratch() as name:
        (Path(name) / "weights").touch()
    assert not Path(name).exists()
    done = subprocess.run(
        [sys.executable, "-c", CUT_SHORT],
        env=os.environ | {"TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout.startswith(str(tmp_path))) == (129, True), done.stderr
    assert [*tmp_path.iterdir()] == []
