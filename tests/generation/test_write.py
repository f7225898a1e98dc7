"""Writing clients: nothing that a person changed is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from polybake.errors import InputError
from polybake.generation.write import RECORD, stale_files, write_client

FILES = {"src/a.py": "a\n", "src/b.py": "b\n", "package.json": "{}\n"}
PROJECT = frozenset({"package.json"})


def test_a_first_write(tmp_path: Path) -> None:
    """Every file is written, and a second run changes nothing."""
    assert write_client(tmp_path, FILES, PROJECT).written == tuple(sorted(FILES))
    assert write_client(tmp_path, FILES, PROJECT).written == ()
    assert stale_files(tmp_path, FILES, PROJECT) == []


def test_a_hand_change_is_not_lost(tmp_path: Path) -> None:
    """A changed generated file stops the run before anything is written."""
    write_client(tmp_path, FILES, PROJECT)
    (tmp_path / "src/b.py").write_text("mine\n")
    with pytest.raises(InputError, match="was changed by hand since it was generated"):
        write_client(tmp_path, FILES | {"src/a.py": "new\n"}, PROJECT)
    assert (tmp_path / "src/a.py").read_text() == "a\n"
    write_client(tmp_path, FILES, PROJECT, force=True)
    assert (tmp_path / "src/b.py").read_text() == "b\n"


def test_a_file_in_the_way_is_not_lost(tmp_path: Path) -> None:
    """A file that polybake never wrote is not overwritten either."""
    (tmp_path / "src").mkdir()
    (tmp_path / "src/a.py").write_text("mine\n")
    with pytest.raises(InputError, match="changed by hand"):
        write_client(tmp_path, FILES, PROJECT)


def test_project_files_belong_to_their_owner(tmp_path: Path) -> None:
    """A project file is written once and never judged stale."""
    write_client(tmp_path, FILES, PROJECT)
    (tmp_path / "package.json").write_text('{"mine": 1}\n')
    write_client(tmp_path, FILES | {"package.json": '{"new": 1}\n'}, PROJECT)
    assert (tmp_path / "package.json").read_text() == '{"mine": 1}\n'
    assert stale_files(tmp_path, FILES, PROJECT) == []


def test_what_is_no_longer_rendered_is_removed(tmp_path: Path) -> None:
    """A file of an earlier version goes, unless a person changed it."""
    write_client(tmp_path, FILES, PROJECT)
    fewer = {path: text for path, text in FILES.items() if path != "src/b.py"}
    assert stale_files(tmp_path, fewer, PROJECT) == ["src/b.py"]
    assert write_client(tmp_path, fewer, PROJECT).removed == ("src/b.py",)
    assert not (tmp_path / "src/b.py").exists()


def test_stale_files_are_found(tmp_path: Path) -> None:
    """A missing and a differing file are both stale."""
    write_client(tmp_path, FILES, PROJECT)
    (tmp_path / "src/a.py").unlink()
    (tmp_path / "src/b.py").write_text("x")
    assert stale_files(tmp_path, FILES, PROJECT) == ["src/a.py", "src/b.py"]


@pytest.mark.parametrize("path", ["../out.py", "/etc/out.py", "a/../../out.py"])
def test_a_record_cannot_reach_outside(tmp_path: Path, path: str) -> None:
    """A record that names a file outside the client's folder is refused."""
    (tmp_path / RECORD).write_text(f'{{"files": {{"{path}": "0"}}}}')
    with pytest.raises(InputError, match="is damaged"):
        write_client(tmp_path, FILES, PROJECT)
