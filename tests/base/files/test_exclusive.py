"""Only one process at a time works in a folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from polybake.base.files.exclusive import exclusive
from polybake.errors import InputError


def test_a_second_one_is_refused(tmp_path: Path) -> None:
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


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    """A file with the folder's name is in the way."""
    (tmp_path / "file").touch()
    with (
        pytest.raises(InputError, match=r"file: cannot be made \(File exists\); choose another"),
        exclusive(tmp_path / "file"),
    ):
        pass
